"""Another time: what Python's modules `time` and `datetime` tell, put forward."""

import datetime
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

SECONDS = 400 * 24 * 3600 + 12_345
"""Another year, month, weekday and hour."""


@contextmanager
def later() -> Generator[None]:
    """Put the clock of `time` forward for what is imported and called inside. Monotonic clocks, so deadlines, stay."""
    real, real_ns, strftime = time.time, time.time_ns, time.strftime

    def now() -> float:
        return real() + SECONDS

    def of(function: Callable[[float], Any]) -> Callable[..., Any]:
        def call(at: float | None = None) -> Any:
            return function(now() if at is None else at)

        return call

    def as_text(form: str, at: Any = None) -> str:
        return strftime(form, time.localtime() if at is None else at)

    functions = {name: of(getattr(time, name)) for name in ("localtime", "gmtime", "ctime")}
    functions |= {"time": now, "time_ns": lambda: real_ns() + SECONDS * 10**9, "strftime": as_text}
    with ExitStack() as patches:
        for name, function in functions.items():
            patches.enter_context(mock.patch.object(time, name, function))
        yield


def put_dates_forward() -> None:
    """Put the dates of `datetime` forward in the modules loaded so far, for the rest of the process.

    Compiled modules, and packages that have some, keep the real classes: they crash with others.
    """
    own = ModuleType("datetime")
    vars(own).update(vars(datetime) | {"date": _Date, "datetime": _DateTime})
    others = {id(datetime): own, id(datetime.date): _Date, id(datetime.datetime): _DateTime}
    files = {name: str(getattr(module, "__file__", "")) for name, module in sys.modules.items()}
    compiled = {name.partition(".")[0] for name, file in files.items() if file.endswith((".so", ".pyd"))}
    for name, module in list(sys.modules.items()):
        if name != __name__ and name.partition(".")[0] not in compiled | sys.stdlib_module_names:
            for key, value in list(vars(module).items()):
                if id(value) in others:
                    vars(module)[key] = others[id(value)]


class _Any(type):
    """The class of both: an instance of the real class is one of the class that stands for it."""

    real: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)


class _Date(datetime.date, metaclass=_Any):
    real = datetime.date

    @classmethod
    def today(cls):
        return cls.fromtimestamp(time.time())


class _DateTime(datetime.datetime, metaclass=_Any):
    real = datetime.datetime

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None):
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        return cls.now(datetime.UTC).replace(tzinfo=None)


for _kind in (_Date, _DateTime):  # they are pickled and printed by the names that they stand for
    _kind.__module__, _kind.__name__, _kind.__qualname__ = "datetime", _kind.real.__name__, _kind.real.__qualname__
