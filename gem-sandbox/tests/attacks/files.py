"""Attacks on files: reading them, changing them, and telling things by them."""

from attacks.model import Attack

TRY_ALL = """
import os
def attempt(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except OSError:
        return None
def read(path, **options):
    try:
        with open(path, errors="replace", **options) as file:
            return file.read(4096)
    except OSError:
        return ""
"""

ATTACKS = (
    Attack(
        "read_home",
        "reads the home folder",
        TRY_ALL
        + """
for home in {os.path.expanduser("~"), "/root", *("/home/" + name for name in attempt(os.listdir, "/home") or ())}:
    for name in (".ssh/id_rsa", ".netrc", ".aws/credentials"):
        print(read(os.path.join(home, name)))
""",
        "leaked home",
    ),
    Attack("read_passwd", "reads /etc/passwd", 'print(open("/etc/passwd").read())', "leaked passwd"),
    Attack(
        "read_working_folder",
        "reads the folder in which the runner works",
        TRY_ALL + 'print(read(".env"), read("/home/agent/project/.env"))',
        "leaked project",
    ),
    Attack(
        "list_folder",
        "lists a folder of its user",
        'import os; print(os.listdir("/home/agent/project"))',
        "leaked name",
    ),
    Attack(
        "stat_file",
        "finds out that a file is there, and its size",
        'import os; print("BREACH" if os.stat("/home/agent/.ssh/id_rsa").st_size else "")',
        "printed BREACH",
    ),
    Attack(
        "climb",
        "reads a file by a path full of `..`",
        'print(open("../" * 30 + "home/agent/.ssh/id_rsa").read())',
        "leaked home",
    ),
    Attack(
        "symlink_read",
        "reads a file through a symbolic link",
        'import os; os.symlink("/home/agent/.ssh/id_rsa", "link"); print(open("link").read())',
        "leaked home",
    ),
    Attack(
        "symlink_write",
        "writes to a file through a symbolic link",
        'import os; os.symlink("/home/agent/project/notes.txt", "link"); open("link", "a").write("more")',
        "changed",
    ),
    Attack(
        "hard_link",
        "makes a hard link to a file and reads that",
        """
import os, tempfile
for folder in (".", tempfile.gettempdir(), "/dev/shm", "/home/agent/project"):
    try:
        os.link("/home/agent/.ssh/id_rsa", folder + "/gem-breach")
        print(open(folder + "/gem-breach").read())
    except OSError:
        pass
""",
        "leaked home",
    ),
    Attack(
        "proc_root",
        "reads a file through the root of another process",
        TRY_ALL
        + """
for pid in ["self", *filter(str.isdigit, attempt(os.listdir, "/proc") or map(str, range(100)))]:
    for door in ("root/home/agent/.ssh", "cwd/../.ssh"):
        print(read(f"/proc/{pid}/{door}/id_rsa"))
""",
        "leaked home",
    ),
    Attack(
        "inherited_descriptors",
        "reads every descriptor that is open in it",
        TRY_ALL
        + """
import sys
for number in range(3, 1024):
    print(attempt(os.pread, number, 4096, 0))
""",
        "leaked inherited",
    ),
    Attack(
        "inherited_folder",
        "opens a file below a folder that is open in it",
        TRY_ALL
        + """
for number in range(3, 1024):
    for path in ("id_rsa", "../.ssh/id_rsa", "home/agent/.ssh/id_rsa"):
        found = attempt(os.open, path, os.O_RDONLY, dir_fd=number)
        if found is not None:
            print(os.read(found, 4096))
""",
        "leaked home",
    ),
    Attack(
        "descriptors_of_others",
        "opens what other processes have open",
        TRY_ALL
        + """
for pid in ["self", *filter(str.isdigit, attempt(os.listdir, "/proc") or map(str, range(100)))]:
    for number in attempt(os.listdir, f"/proc/{pid}/fd") or ():
        path = f"/proc/{pid}/fd/{number}"
        if "memfd" in (attempt(os.readlink, path) or ""):
            print(read(path))
""",
        "leaked open",
    ),
    Attack(
        "write_home",
        "writes a file to the home folder",
        'import os; open("/home/agent/gem-breach", "w").write("x")',
        "wrote",
    ),
    Attack(
        "write_shared_folders",
        "writes files to folders that all processes share",
        TRY_ALL
        + """
for folder in ("/tmp", "/var/tmp", "/run", "/dev/shm", "/dev/mqueue"):
    attempt(lambda: open(folder + "/gem-breach", "w").write("x"))
""",
        "wrote",
    ),
    Attack(
        "truncate_file",
        "empties a file of its user",
        'import os; os.truncate("/home/agent/project/notes.txt", 0)',
        "changed",
    ),
    Attack(
        "remove_file", "removes a file of its user", 'import os; os.unlink("/home/agent/project/notes.txt")', "changed"
    ),
    Attack(
        "rename_file",
        "moves a file of its user",
        'import os; os.rename("/home/agent/project/notes.txt", "/home/agent/project/gem-breach")',
        "wrote",
    ),
    Attack(
        "change_mode",
        "makes a file of its user readable to all",
        'import os; os.chmod("/home/agent/project/notes.txt", 0o777)',
        "changed",
    ),
    Attack(
        "change_time",
        "changes the time of a file of its user",
        'import os; os.utime("/home/agent/project/notes.txt", (1000, 1000))',
        "changed",
    ),
    Attack(
        "lock_shared_file",
        "locks a file that all programs can read, which tells them something",
        """
import fcntl, os, struct
for _ in range(2):
    try:
        one, other = os.open(os.__file__, os.O_RDONLY), os.open(os.__file__, os.O_RDONLY)
        fcntl.fcntl(one, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0))
        seen = fcntl.fcntl(other, 36, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
        if struct.unpack("hhqqi4x", seen)[0] != fcntl.F_UNLCK:
            print("BREACH")
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "disk_sizes",
        "finds out how large the disks are and how full",
        """
import os
for path in ("/", "/usr", "/home/agent", os.__file__):
    try:
        print("BREACH" if os.statvfs(path).f_blocks else "")
    except OSError:
        pass
""",
        "printed BREACH",
    ),
    Attack(
        "mounts",
        "reads where what is mounted",
        """
for path in ("/proc/mounts", "/proc/self/mountinfo", "/etc/mtab"):
    try:
        print("BREACH" if open(path).read() else "")
    except OSError:
        pass
""",
        "printed BREACH",
    ),
    Attack(
        "devices",
        "opens devices beyond the harmless ones",
        """
import os
for name in os.listdir("/dev"):
    if name not in ("null", "zero", "full", "random", "urandom"):
        try:
            os.open("/dev/" + name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            print("BREACH")
        except OSError:
            pass
""",
        "printed BREACH",
    ),
    Attack(
        "type_on_terminal",
        "writes on the terminal of the user who started the runner",
        'open("/dev/tty", "w").write("gem-breach")',
        "typed",
    ),
)
