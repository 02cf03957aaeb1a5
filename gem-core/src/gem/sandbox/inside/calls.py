"""System calls that the standard library lacks, through ctypes. Each raises `OSError` where the kernel refuses."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)

SET_DEATH_SIGNAL, SET_KEEP_CAPS, SET_SECCOMP, SET_SUBREAPER, SET_NO_NEW_PRIVS = 1, 8, 22, 36, 38
SECCOMP_FILTER = 2
NO_SUID, NO_DEV, READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 2, 4, 1, 32, 4096, 16384, 1 << 18
DETACH = 2


class Filter(ctypes.Structure):
    """`struct sock_fprog`: a seccomp filter as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def prctl(option: int, value: int = 1, pointer: int | None = 0) -> None:
    _checked(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_void_p(pointer), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def install_filter(code: ctypes.Array[ctypes.c_char]) -> None:
    """Put this process, which must have one thread, under a seccomp filter for good."""
    program = Filter(len(code) // 8, ctypes.addressof(code))
    prctl(SET_SECCOMP, SECCOMP_FILTER, ctypes.addressof(program))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    _checked(_libc.mount(*(text.encode() for text in (source, target, kind)), ctypes.c_ulong(flags), options.encode()))


def unmount(target: str) -> None:
    _checked(_libc.umount2(target.encode(), DETACH))


def keep_capabilities(*kept: int) -> None:
    """Give up every capability but these, for good where the process has no_new_privs."""
    mask = sum(1 << number for number in kept)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    low, high = mask & 0xFFFFFFFF, mask >> 32
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
