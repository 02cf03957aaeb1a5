"""Attacks that use things up: time, memory, output, processes, descriptors."""

from attacks.model import Attack

ATTACKS = (
    Attack(
        "spin",
        "computes for ever",
        """
import time
while time.process_time() < 1.0:
    pass
print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "spin_in_c",
        "computes for seconds in one call, in which Python handles no signal",
        'sum(range(60_000_000)); print("BREACH")',
        "printed BREACH",
    ),
    Attack(
        "spin_in_threads",
        "computes in four threads at once",
        """
import hashlib, threading, time
def spin():
    while time.process_time() < 1.0:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)
threads = [threading.Thread(target=spin) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "slow_expression",
        "matches a regular expression that takes exponential time",
        """
import re, time
started = time.process_time()
for length in range(20, 40):
    re.match("(a+)+$", "a" * length + "b")
    if time.process_time() - started > 1.0:
        print("BREACH")
        break
""",
        "printed BREACH",
    ),
    Attack("sleep", "sleeps", 'import time; time.sleep(2.5); print("BREACH")', "printed BREACH"),
    Attack(
        "wait_for_input",
        "waits for input that never comes",
        """
import os, select, time
reading, writing = os.pipe()
select.select([reading], [], [], 2.5)
print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "stop_itself", "stops itself, using no time and never ending", "import os; os.kill(os.getpid(), 19)", "slow"
    ),
    Attack(
        "linger_in_thread",
        "ends, but for a thread",
        """
import threading, time
threading.Thread(target=lambda: (time.sleep(2.5), print("BREACH"))).start()
""",
        "printed BREACH",
    ),
    Attack(
        "close_outputs",
        "closes its outputs and continues",
        """
import os, time
os.closerange(0, 3)
time.sleep(3.5)
""",
        "slow",
        runner="until end of file",
    ),
    Attack(
        "ignore_signals",
        "ignores every signal it can",
        """
import signal, time
for number in signal.valid_signals() - {9, 19}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while time.process_time() < 1.0:
    pass
print("BREACH")
""",
        "printed BREACH",
        runner="terminate",
    ),
    Attack(
        "block_signals",
        "blocks every signal it can, and sleeps",
        """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
time.sleep(2.5)
print("BREACH")
""",
        "printed BREACH",
        runner="terminate",
    ),
    Attack(
        "catch_everything",
        "catches every exception that should end it",
        """
import time
started = time.monotonic()
while time.monotonic() - started < 2.5:
    try:
        while time.monotonic() - started < 2.5:
            pass
    except BaseException:
        pass
print("BREACH")
""",
        "printed BREACH",
        runner="here with alarm",
    ),
    Attack(
        "raise_limits",
        "raises its own limits as far as they go, and computes on",
        """
import resource, time
for name in dir(resource):
    if name.startswith("RLIMIT_"):
        which = getattr(resource, name)
        for limits in ((-1, -1), (resource.getrlimit(which)[1],) * 2):
            try:
                resource.setrlimit(which, limits)
            except (OSError, ValueError):
                pass
while time.process_time() < 1.0:
    pass
print("BREACH")
""",
        "printed BREACH",
        runner="soft limits",
    ),
    Attack(
        "memory",
        "takes 8 GB of memory",
        """
held = []
for number in range(128):
    held.append(bytearray(b"x") * (64 << 20))
    if number == 7:
        print("BREACH", flush=True)
""",
        "printed BREACH",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "memory_mapped",
        "maps 8 GB of memory that is shared",
        """
import mmap
held = []
for number in range(128):
    held.append(mmap.mmap(-1, 64 << 20))
    held[-1].write(b"x" * (64 << 20))
    if number == 6:
        print("BREACH", flush=True)
        break
""",
        "printed BREACH",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "memory_in_files",
        "takes memory by files that live in memory",
        """
import os
block = b"x" * (1 << 20)
written = 0
for number in range(8):
    file = os.memfd_create("more")
    for _ in range(64):
        written += os.write(file, block)
print("BREACH" if written >= 512 << 20 else "")
""",
        "printed BREACH",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "memory_in_pipes",
        "fills memory with pipes that are never read",
        """
import os
held = 0
for _ in range(1500):
    _, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        held += os.write(writing, bytes(1 << 16))
    except BlockingIOError:
        pass
print("BREACH" if held >= 1500 << 12 else "")
""",
        "printed BREACH",
    ),
    Attack(
        "open_files",
        "opens 2,000 files",
        """
import os
for _ in range(2000):
    os.open("/dev/null", os.O_RDONLY)
print("BREACH")
""",
        "printed BREACH",
    ),
    Attack(
        "output",
        "prints 1 GB",
        """
import sys
for _ in range(1024):
    sys.stdout.write("x" * (1 << 20))
""",
        "flooded",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "errors",
        "prints 1 GB of errors",
        """
import os
for _ in range(1024):
    os.write(2, b"x" * (1 << 20))
""",
        "flooded",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "sparse_output",
        "makes its output 1 TB long, or at least 256 MB, without writing it",
        """
import os
for size in (1 << 40, 256 << 20):
    for number in (1, 2):
        try:
            os.ftruncate(number, size)
        except OSError:
            pass
        try:
            os.pwrite(number, b"x", size)
        except OSError:
            pass
        try:
            os.posix_fallocate(number, 0, size)
        except OSError:
            pass
""",
        "flooded",
        runner="to file",
    ),
    Attack(
        "fork_bomb",
        "forks until it cannot",
        """
import os, time
children = 0
try:
    for _ in range(10000):
        if os.fork() == 0:
            time.sleep(0.4)
            os._exit(0)
        children += 1
        if children == 50:
            print("BREACH", flush=True)
except OSError:
    pass
""",
        "printed BREACH",
    ),
    Attack(
        "threads",
        "starts 2,000 threads",
        """
import threading, time
threading.stack_size(65536)
started = 0
try:
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(0.4,), daemon=True).start()
        started += 1
        if started == 250:
            print("BREACH", flush=True)
except RuntimeError:
    pass
""",
        "printed BREACH",
    ),
)
