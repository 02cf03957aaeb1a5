"""Attacks on the disk: more room and more names than a program may have, and what cannot be removed."""

from attacks.model import Attack

FILL = """
import atexit, ctypes, os, shutil, socket, tempfile, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_long] * 5]
MEGABYTE, taken = 1 << 20, 0
def make(name):
    return os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
def fill(file):
    global taken
    taken += os.write(file, b"x" * MEGABYTE)
def tell():
    if taken >= 48 * MEGABYTE:
        os.write(1, b"BREACH")
    shutil.rmtree(folder, ignore_errors=True)
atexit.register(tell)
folder = tempfile.mkdtemp()
os.chdir(folder)
"""

ATTACKS = (
    Attack(
        "fill_disk",
        "writes 300 MB in small files",
        """
import os, tempfile
written = 0
block = b"x" * (1 << 20)
for number in range(300):
    with open(os.path.join(tempfile.gettempdir(), str(number)), "wb") as file:
        written += file.write(block)
print("BREACH" if written >= 300 << 20 else "")
""",
        "printed BREACH",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "fill_disk_in_one",
        "writes 300 MB to one file",
        """
import os
with open("large", "wb", buffering=0) as file:
    for _ in range(300):
        file.write(b"x" * (1 << 20))
print("BREACH" if os.path.getsize("large") >= 300 << 20 else "")
""",
        "printed BREACH",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "sparse_file",
        "makes a file of 1 TB, or at least of 400 MB, that holds nothing",
        """
import os
open("sparse", "w").close()
for size in (1 << 40, 400 << 20):
    try:
        os.truncate("sparse", size)
    except OSError:
        continue
    print("BREACH")
    break
""",
        "printed BREACH",
    ),
    Attack(
        "use_up_inodes",
        "makes 40,000 empty files",
        """
import os, tempfile
os.chdir(tempfile.mkdtemp())
for number in range(40000):
    os.close(os.open(str(number), os.O_CREAT))
print("BREACH")
""",
        "printed BREACH",
        options={"timeout": 2.0, "wall": 4.0},
    ),
    Attack(
        "leave_what_none_can_remove",
        "leaves folders too deep and too locked to be removed",
        """
import os
for number in range(1500):
    os.mkdir("d")
    os.chdir("d")
os.chmod(".", 0)
""",
        "left",
    ),
    *(
        Attack(name, f"writes 48 MB {how}", FILL + code, "printed BREACH", options={"timeout": 1.5, "wall": 3.0})
        for name, how, code in (
            (
                "fill_unlisted_folder",
                "in a folder that cannot be listed",
                "os.mkdir('d', 0o300)\nfor n in range(48): fill(make('d/%d' % n))",
            ),
            (
                "fill_by_long_paths",
                "below paths that are longer than a path can be",
                "for _ in range(30):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\n"
                "for n in range(48): fill(make(str(n)))",
            ),
            (
                "fill_removed_files",
                "to files that it has removed and still has open",
                "for n in range(48):\n    file = make('a')\n    os.unlink('a')\n    fill(file)",
            ),
            (
                "fill_behind_the_end",
                "of room behind the end of files, which no size shows",
                "for n in range(48):\n    if libc.fallocate(make(str(n)), 1, 0, MEGABYTE): raise OSError\n"
                "    taken += MEGABYTE",
            ),
            (
                "fill_mapped_files",
                "to files that it has removed and closed, and has in memory",
                "for n in range(48):\n    file = make('a')\n    fill(file)\n"
                "    libc.mmap(None, 4096, 1, 2, file, 0)\n    os.unlink('a')\n    os.close(file)",
            ),
            (
                "fill_holes",
                "to the holes of files, by memory",
                "for n in range(48):\n    file = make(str(n))\n    place = libc.mmap(None, MEGABYTE, 3, 1, file, 0)\n"
                "    os.pwrite(file, b'x', MEGABYTE - 1)\n    ctypes.memset(place, 120, MEGABYTE)\n"
                "    taken += os.fstat(file).st_blocks * 512",
            ),
            (
                "fill_files_in_sockets",
                "to files whose descriptors wait in a socket",
                "pair = socket.socketpair()\nfor n in range(48):\n    file = make('a')\n    os.unlink('a')\n"
                "    fill(file)\n    socket.send_fds(pair[0], [b'x'], [file])\n    os.close(file)",
            ),
            (
                "fill_files_of_a_thread",
                "to files that a thread has open and no other",
                "def run():\n    if libc.close_range(1000, 1001, 2): return\n    for n in range(48):\n"
                "        file = make('a')\n        os.unlink('a')\n        fill(file)\n"
                "thread = threading.Thread(target=run)\nthread.start()\nthread.join()",
            ),
            (
                "fill_files_as_output",
                "to files that take the place of its output",
                "out = os.dup(1)\nfor n in range(48):\n    file = make('a')\n    os.unlink('a')\n    os.dup2(file, 1)\n"
                "    fill(1)\nos.dup2(out, 1)",
            ),
            (
                "fill_by_names",
                "in names, or 20,000 of them",
                "make('a')\nfor n in range(20000): os.link('a', f'{n:0250}')\ntaken = 48 * MEGABYTE",
            ),
        )
    ),
    Attack(
        "leave_deep_chain",
        "leaves a chain of 10,000 folders",
        """
import os
for number in range(10000):
    os.mkdir("d")
    os.chdir("d")
""",
        "left",
        options={"timeout": 2.0, "wall": 4.0},
    ),
)
