"""Callbacks after a fork and at the end of the process. No other module registers a handler for either."""

import atexit
import inspect
import os
import sys
import weakref
from collections.abc import Callable
from itertools import count
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # functions, in older Pythons
    from threading import Lock, RLock

Callback = Callable[[], Any]


class _Callbacks:
    """Callbacks in the order of their registration. A bound method stays only as long as its object lives."""

    def __init__(self) -> None:
        self._numbers = count()
        self._callbacks: dict[int, Callable[[], Callback | None]] = {}

    def add(self, callback: Callback) -> None:
        for number, get in list(self._callbacks.items()):
            if get() is None:
                self._callbacks.pop(number, None)
        self._callbacks[next(self._numbers)] = _weak(callback) if inspect.ismethod(callback) else lambda: callback

    def all(self) -> list[Callback]:
        return [callback for get in list(self._callbacks.values()) if (callback := get()) is not None]


def _weak(method: MethodType) -> Callable[[], Callback | None]:
    # `weakref.WeakMethod` prints an error where its object lives as long as the interpreter.
    reference, function = weakref.ref(method.__self__), method.__func__

    def get() -> Callback | None:
        owner = reference()
        return None if owner is None else MethodType(function, owner)

    return get


_child, _exit = _Callbacks(), _Callbacks()
_held: "list[Lock | RLock]" = []


def after_fork(callback: Callback) -> None:
    """Call `callback` in every forked child, before the child does anything else.

    A child has a copy of all objects, but of the threads only the one that forked: a lock may be held by a thread that
    the child does not have, and processes and connections belong to the parent. A callback drops them or makes them
    anew; it must not take a lock.
    """
    _child.add(callback)


def at_exit(callback: Callback) -> None:
    """Call `callback` at the end of the process; the one registered last is called first."""
    _exit.add(callback)


def hold_during_fork(lock: "Lock | RLock") -> None:
    """Let a fork wait for `lock`, so that no child begins in the middle of what it protects.

    Whoever has such a lock must not take another one.
    """
    _held.append(lock)


def _before() -> None:
    for lock in _held:
        lock.acquire()


def _in_parent() -> None:
    for lock in reversed(_held):
        lock.release()


def _in_child() -> None:
    _in_parent()
    _call(_child.all())


def _call(callbacks: list[Callback]) -> None:
    """Call all of them, whatever one raises."""
    for callback in callbacks:
        try:
            callback()
        except Exception:
            sys.excepthook(*sys.exc_info())  # pyright: ignore[reportArgumentType]


atexit.register(lambda: _call(_exit.all()[::-1]))
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
