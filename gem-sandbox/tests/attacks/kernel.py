"""Attacks by way of the kernel: other programs, other namespaces, and calls that had holes before."""

from attacks.model import Attack

CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) >= 0:
        print("BREACH")
"""

ATTACKS = (
    Attack(
        "run_program",
        "runs a shell",
        'import subprocess; print(subprocess.check_output(["/bin/sh", "-c", "echo BREACH"], text=True))',
        "printed BREACH",
    ),
    Attack(
        "spawn_program",
        "runs a program by posix_spawn",
        'import os; os.waitpid(os.posix_spawn("/bin/echo", ["echo", "BREACH"], {}), 0)',
        "printed BREACH",
    ),
    Attack(
        "become_program",
        "turns into another program",
        'import os; os.execv("/bin/echo", ["echo", "BREACH"])',
        "printed BREACH",
    ),
    Attack(
        "run_from_memory",
        "runs a program that is in no file system",
        """
import os
program = os.memfd_create("program")
os.write(program, open("/bin/echo", "rb").read())
os.execve(program, ["echo", "BREACH"], {})
""",
        "printed BREACH",
    ),
    Attack(
        "run_own_binary",
        "writes a program into its folder and runs it",
        """
import os
with open("program", "wb") as file:
    file.write(open("/bin/echo", "rb").read())
os.chmod("program", 0o700)
os.execv("program", ["echo", "BREACH"])
""",
        "printed BREACH",
    ),
    Attack(
        "run_by_loader",
        "runs a program by the dynamic loader",
        'import os; os.execv("/lib64/ld-linux-x86-64.so.2", ["ld", "/bin/echo", "BREACH"])',
        "printed BREACH",
        kernel="x86-64",
    ),
    Attack(
        "raw_fork",
        "makes a process by the bare call",
        CALL
        + """
pid = libc.syscall(56, 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
if pid > 0:
    print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "raw_vfork",
        "makes a process by fork's older relatives",
        CALL
        + """
pid = libc.syscall(57)
if pid == 0:
    os._exit(0)
if pid > 0:
    print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "raw_clone3",
        "makes a process by clone3, whose arguments no filter can read",
        CALL
        + """
arguments = (ctypes.c_uint64 * 11)()
arguments[4] = 17
pid = libc.syscall(435, arguments, 88)
if pid == 0:
    os._exit(0)
if pid > 0:
    print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "calls_of_32_bits",
        "makes a call through the interface of 32-bit programs",
        """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("53 b8 14 00 00 00 cd 80 5b c3"))
pid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
print("BREACH" if pid > 0 else "")
""",
        "printed BREACH",
        kernel="32-bit calls",
    ),
    Attack(
        "background_child",
        "leaves a child in the background",
        """
import os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep(3)
    os._exit(0)
""",
        "alive",
    ),
    Attack(
        "escape_group",
        "runs out of time while a child waits in another session",
        """
import os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep(4)
    os._exit(0)
time.sleep(2)
""",
        "alive",
        runner="kill group",
    ),
    Attack(
        "hold_output",
        "leaves a child that holds its outputs open",
        """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(3.5)
    os._exit(0)
""",
        "slow",
        runner="until end of file",
    ),
    Attack("user_namespace", "makes a user namespace", CALL + "call(272, 0x10000000)", "printed BREACH"),
    Attack(
        "become_root",
        "becomes root in a user namespace",
        """
import ctypes, os
user = os.getuid()
ctypes.CDLL(None).unshare(0x10000000)
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {user} 1")
print("BREACH" if os.getuid() == 0 and user != 0 else "")
""",
        "printed BREACH",
    ),
    Attack(
        "mount",
        "mounts a file system in namespaces of its own",
        CALL + 'libc.unshare(0x10020000); call(165, b"none", b"/tmp", b"tmpfs", 0, None)',
        "printed BREACH",
    ),
    Attack(
        "change_root", "changes its root folder", CALL + 'libc.unshare(0x10020000); call(161, b"/")', "printed BREACH"
    ),
    Attack(
        "io_uring",
        "opens an io_uring, whose work no filter sees",
        CALL + "call(425, 8, bytes(120))",
        "printed BREACH",
        kernel="io_uring",
    ),
    Attack(
        "performance_events",
        "opens a performance counter",
        CALL + 'call(298, b"\\1\\0\\0\\0\\x70\\0\\0\\0" + bytes(32) + b"\\x60" + bytes(71), 0, -1, -1, 0)',
        "printed BREACH",
        kernel="perf_event_open",
    ),
    Attack(
        "page_faults",
        "handles page faults by userfaultfd",
        CALL + "call(323, 1)",
        "printed BREACH",
        kernel="userfaultfd",
    ),
    Attack("new_keyring", "makes a key ring", CALL + "call(250, 1, None)", "printed BREACH", kernel="key rings"),
    Attack(
        "watch_files",
        "watches a folder of its user",
        CALL + 'libc.inotify_add_watch(libc.inotify_init(), b"/home/agent/project", 0xfff) > 0 and print("BREACH")',
        "printed BREACH",
    ),
    Attack(
        "schedule_itself",
        "asks to run before all others, or for a kinder schedule",
        """
import os
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "debug_itself", "asks to be debugged, which stops its signals", CALL + "call(101, 0, 0, 0, 0)", "printed BREACH"
    ),
    Attack(
        "set_clock_offset",
        "makes a namespace for the clock",
        CALL + "call(272, 0x10000080)",
        "printed BREACH",
        kernel="time namespaces",
    ),
)
