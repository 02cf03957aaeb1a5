"""The filter, run here by an interpreter of its machine language."""

import errno
import platform
import re
import struct
from pathlib import Path

import pytest

from gem_sandbox import seccomp, syscalls

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
REFUSED = ERRNO | errno.EPERM
ASK = 0x7FC00000
BUSY = ERRNO | errno.EBUSY
UNDONE = ERRNO  # the call does nothing and reports success
TABLES = (syscalls.PLAIN, syscalls.WRITING, syscalls.ATTRIBUTES, syscalls.FORKING, syscalls.EXECUTING, syscalls.CHECKED)


def verdict(program: bytes, number: int, *arguments: int, arch: int) -> int:
    """What the kernel would say: Linux `net/core/filter.c`, the instructions that seccomp allows."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, arch, 0, *padded)
    code = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        operation, on_true, on_false, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x05:
            at += value
        elif operation == 0x15:
            at += on_true if accumulator == value else on_false
        elif operation == 0x35:
            at += on_true if accumulator >= value else on_false
        elif operation == 0x06:
            return value
        else:
            raise AssertionError(f"no such instruction: {operation:#x}")


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def number(name: str, machine: str) -> int:
    known = {name: n for table in TABLES for name, n in syscalls.numbers(table, machine).items()}
    return (known | {"sendmsg": {"x86_64": 46, "aarch64": 211}[machine]})[name]


@pytest.mark.parametrize(("forks", "executes"), [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("attributes", [False, True])
def test_every_number_has_the_answer_of_its_table(
    machine: str, forks: bool, executes: bool, writes: bool, attributes: bool
) -> None:
    program = seccomp.build(machine, forks=forks, executes=executes, writes=writes, attributes=attributes)
    expected = dict.fromkeys(syscalls.numbers(syscalls.PLAIN, machine).values(), ALLOW)
    for table, allowed, otherwise in [
        (syscalls.WRITING, writes, ERRNO | errno.EROFS),
        (syscalls.ATTRIBUTES, attributes, REFUSED),
        (syscalls.FORKING, forks, REFUSED),
        (syscalls.EXECUTING, forks or executes, REFUSED),
    ]:
        expected |= dict.fromkeys(syscalls.numbers(table, machine).values(), ALLOW if allowed else otherwise)
    checked = set(syscalls.numbers(syscalls.CHECKED, machine).values())

    for call in [*range(1000), 1 << 20, 1 << 30, 0x40000000, 0x40000001, 0xFFFFFFFF]:
        if call not in checked:
            assert verdict(program, call, arch=ARCH[machine]) == expected.get(call, REFUSED), call


def test_a_call_of_another_architecture_ends_the_program(machine: str) -> None:
    program = seccomp.build(machine)

    for arch in (0x40000003, *(set(ARCH.values()) - {ARCH[machine]})):  # 32-bit x86, and the other one
        assert verdict(program, 0, arch=arch) == KILL


CASES = [
    ("openat", (0, 0, 0o100 | 0o1), ALLOW),
    ("fcntl", (1, 0), ALLOW),
    ("fcntl", (1, 1030), ALLOW),
    *(("fcntl", (1, command), UNDONE) for command in (6, 7, 37, 38)),  # F_SETLK, F_SETLKW, those of an open file
    ("fcntl", (1, 5), ALLOW),  # F_GETLK
    ("flock", (1, 2), UNDONE),
    ("fallocate", (1, 0, 0, 9), ALLOW),
    *(("fallocate", (1, mode, 0, 9), ERRNO | errno.ENOTSUP) for mode in (1, 2, 3, 8, 0x10, 0x20, 0x40)),
    ("close_range", (3, 9, 0), ALLOW),
    ("close_range", (3, 9, 4), ALLOW),  # CLOSE_RANGE_CLOEXEC
    ("close_range", (3, 9, 2), REFUSED),  # CLOSE_RANGE_UNSHARE
    ("fcntl", (1, 8), REFUSED),  # F_SETOWN
    ("fcntl", (1, 10), REFUSED),  # F_SETSIG
    ("fcntl", (1, 1026), REFUSED),  # F_NOTIFY
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5412), REFUSED),  # TIOCSTI
    ("socketpair", (1, 1, 0), ALLOW),
    ("socketpair", (1, 1 | 0o2000000 | 0o4000, 0), ALLOW),  # SOCK_STREAM, close on exec, non-blocking
    ("socketpair", (1, 2, 0), REFUSED),
    ("socketpair", (1, 5, 0), REFUSED),
    ("socketpair", (2, 1, 0), REFUSED),
    ("prlimit64", (0, 7), ALLOW),
    ("prlimit64", (1, 7), REFUSED),
    ("kill", (seccomp.OWN_PID, 9), ALLOW),
    ("kill", (1, 9), REFUSED),
    ("kill", (0, 9), REFUSED),
    ("kill", (0xFFFFFFFF, 9), REFUSED),
    ("tgkill", (seccomp.OWN_PID, 5, 9), ALLOW),
    ("tgkill", (1, 1, 9), REFUSED),
    ("prctl", (15, 0), ALLOW),
    ("prctl", (1, 0), REFUSED),  # PR_SET_PDEATHSIG
    ("prctl", (4, 1), REFUSED),  # PR_SET_DUMPABLE
    ("clone", (0x003D0F00,), ALLOW),  # a thread, as glibc makes it
    ("clone", (0x003D0F00 & ~0x400,), REFUSED),  # a thread with descriptors of its own
    ("clone", (0x003D0F00 & ~0x200,), REFUSED),  # a thread with a working folder of its own
    ("clone", (0x01200011,), REFUSED),  # fork()
    ("clone", (0x003D0F00 | 0x10000000,), REFUSED),  # with a user namespace
    ("clone3", (0,), ERRNO | errno.ENOSYS),
    ("openat2", (0,), ERRNO | errno.ENOSYS),
    ("getxattr", (0,), ERRNO | errno.ENOTSUP),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], expected: int) -> None:
    program = seccomp.build(machine)

    assert verdict(program, number(name, machine), *arguments, arch=ARCH[machine]) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x01200011,), ALLOW),
        ("clone", (0x00020000,), REFUSED),  # CLONE_NEWNS
        ("clone", (0x00000080,), REFUSED),  # CLONE_NEWTIME
        ("clone3", (0,), ERRNO | errno.ENOSYS),
        ("kill", (0xFFFFFFFF, 9), ALLOW),
        ("execve", (), ALLOW),
        ("flock", (1, 2), ALLOW),
        ("fcntl", (1, 6), ALLOW),
        ("close_range", (3, 9, 2), ALLOW),
        ("fallocate", (1, 1, 0, 9), ERRNO | errno.ENOTSUP),
        ("sendmsg", (), REFUSED),
    ],
)
def test_programs_that_may_start_others_may_make_no_namespaces(
    machine: str, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    program = seccomp.build(machine, forks=True)

    assert verdict(program, number(name, machine), *arguments, arch=ARCH[machine]) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [(0, ALLOW), (0o2000000, ALLOW), *((flag, ERRNO | errno.EROFS) for flag in (1, 2, 0o100, 0o1000, 0o20200002))],
)
def test_without_writing_files_are_opened_for_reading_only(machine: str, flags: int, expected: int) -> None:
    program = seccomp.build(machine, writes=False)

    assert verdict(program, number("openat", machine), 0, 0, flags, arch=ARCH[machine]) == expected
    if machine == "x86_64":
        assert verdict(program, number("open", machine), 0, flags, arch=ARCH[machine]) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("write", (1, 0, 9), ALLOW),
        ("write", (2, 0, 9), ALLOW),
        ("write", (0, 0, 9), ASK),
        ("write", (3, 0, 9), ASK),
        ("pwritev", (3,), ASK),
        ("openat", (0, 0, 0o2000000), ALLOW),
        ("openat", (0, 0, 1), ALLOW),
        ("openat", (0, 0, 0o101), ASK),  # O_CREAT
        ("openat", (0, 0, 0o20000000 | 0o200000 | 2), ASK),  # O_TMPFILE
        ("mmap", (0, 9, 3, 0x22), ALLOW),  # of memory, for itself
        ("mmap", (0, 9, 3, 0x21), ALLOW),  # of memory, shared
        ("mmap", (0, 9, 3, 0x02), ALLOW),  # of a file, for itself
        ("mmap", (0, 9, 1, 0x01), ASK),
        ("mmap", (0, 9, 3, 0x03), ASK),
        ("linkat", (), ASK),
        ("renameat2", (), ASK),
        ("mkdirat", (), ASK),
        ("symlinkat", (), ASK),
        ("ftruncate", (1, 9), ASK),
        ("fallocate", (3, 0, 0, 9), ASK),
        ("sendfile", (1, 3, 0, 9), ASK),
        ("copy_file_range", (), ASK),
        ("read", (3, 0, 9), ALLOW),
        ("close", (1,), ALLOW),
    ],
)
def test_the_keeper_is_asked_about_what_takes_room_on_disk_and_nothing_else(
    machine: str, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    assert verdict(seccomp.asking(machine), number(name, machine), *arguments, arch=ARCH[machine]) == expected


def test_the_keeper_knows_every_call_that_it_is_asked_about(machine: str) -> None:
    program, known = seccomp.asking(machine), seccomp.asked(machine)
    asked = {n for n in range(1000) if verdict(program, n, 3, 0o100, 0o100, 1, arch=ARCH[machine]) == ASK}

    assert asked == known.keys()


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        *(("close", (place,), UNDONE if place in (1, 2) else ALLOW) for place in range(4)),
        *(("dup3", (5, place), BUSY if place in (1, 2) else ALLOW) for place in range(4)),
        *(("close_range", (place, 99, 0), ALLOW if place == 3 else BUSY) for place in range(4)),
        ("close_range", (3, 99, 2), REFUSED),
    ],
)
def test_where_nobody_is_asked_about_outputs_they_stay_in_their_place(
    machine: str, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    program = seccomp.build(machine, outputs_stay=True)

    assert verdict(program, number(name, machine), *arguments, arch=ARCH[machine]) == expected


@pytest.mark.parametrize("forbidden", [101, 165, 272, 308, 310, 317, 319, 321, 298, 323, 425, 41, 42, 49, 322, 133,
                                       46, 307, 137, 138])  # fmt: skip
def test_the_calls_that_break_sandboxes_are_refused(forbidden: int) -> None:
    # ptrace, mount, unshare, setns, process_vm_readv, seccomp, memfd_create, bpf, perf_event_open, userfaultfd,
    # io_uring_setup, socket, connect, bind, execveat, mknod, sendmsg, sendmmsg, statfs, fstatfs
    for forks in (False, True):
        assert verdict(seccomp.build("x86_64", forks=forks), forbidden, arch=ARCH["x86_64"]) == REFUSED
        if forbidden != syscalls.number_of("execveat", "x86_64"):  # by which a compiled program starts
            program = seccomp.build("x86_64", forks=forks, executes=True)
            assert verdict(program, forbidden, arch=ARCH["x86_64"]) == REFUSED


def test_the_filter_is_short_for_the_kernel_and_its_path_is_short_for_the_program(machine: str) -> None:
    program = seccomp.build(machine)

    assert len(program) // 8 <= 4096  # BPF_MAXINSNS


@pytest.mark.parametrize(
    ("header", "machine"),
    [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "x86_64"), ("/usr/include/asm-generic/unistd.h", "aarch64")],
)
def test_the_numbers_are_those_of_the_kernels_headers(header: str, machine: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"no {header} here: apt-get install linux-libc-dev")
    text = Path(header).read_text()
    known = {name: int(n) for name, n in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)}
    known.setdefault("newfstatat", known.get("fstatat", 0))

    for table in TABLES:
        for name, ours in syscalls.numbers(table, machine).items():
            assert known.get(name, ours) == ours, name  # a header older than the call says nothing


def test_no_call_is_in_two_tables(machine: str) -> None:
    found = [n for table in TABLES for n in syscalls.numbers(table, machine).values()]

    assert len(found) == len(set(found))


def test_this_machine_is_one_of_those_the_filter_knows() -> None:
    if platform.machine() not in syscalls.MACHINES:
        pytest.skip(f"the sandbox knows no system calls of {platform.machine()}")
    assert seccomp.build(platform.machine())
