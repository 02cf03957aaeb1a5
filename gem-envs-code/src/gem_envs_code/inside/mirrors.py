"""What stands for the objects and the classes of a program where a test runs: see `gem_envs_code.inside.referee`."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportPrivateUsage=false

from collections.abc import Callable, Iterator
from typing import Any

MOST_TAKEN = 10_000
"""Items that a test takes of an iterator of the program."""

IMMUTABLE: dict[Any, Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    str: str.__str__,
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    bytes: lambda value: bytes(bytes.__iter__(value)),
    complex: complex.__pos__,
}
"""Plain types of which an object here has the content, and how to get it."""
MUTABLE: tuple[Any, ...] = (list, dict, set, bytearray)
_METHODS = "getitem setitem delitem len iter contains add iadd mul imul reversed or and sub xor"
METHODS = frozenset(f"__{name}__" for name in _METHODS.split())
"""Special methods of mutable types, of which nothing here has the content."""
_OWN = "eq ne lt le gt ge instancecheck subclasscheck next call array_ufunc array_function array_wrap"
OWN = frozenset(f"__{name}__" for name in _OWN.split())
"""Special methods that `Remote` has, that are none of an object's, or that numpy asks instead of computing."""
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod"
OPERATORS = frozenset(f"__{way}{name}__" for name in _OPERATORS.split() for way in ("", "r", "i"))
JUDGING = frozenset(["startswith", "endswith", "issubset", "issuperset", "isdisjoint"])
"""Methods of plain types that say yes or no to what a test expects."""


class Reference:
    """A reference as an argument of a step."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference


def placed(made: Any, session: Any, reference: Any) -> Any:
    """`made`, with the object that it stands for."""
    object.__setattr__(made, "_session", session)
    object.__setattr__(made, "_reference", reference)
    return made


def special(name: str) -> Callable[..., Any]:
    """A special method, which the program carries out, unless it would judge plain data of the test."""

    def method(self: Any, *others: Any) -> Any:
        own = self.__dict__.get("_own", False)
        if name in OPERATORS and not own and not all(isinstance(each, StandIn) for each in others):
            plain = plain_of(self)
            return NotImplemented if plain is None else getattr(plain, name, lambda *_: NotImplemented)(*others)
        if name == "__contains__" and not own and not isinstance(others[0], Remote):
            return others[0] in list(self)
        if name == "__iter__":
            return items(self)
        found = self._session.step("special", name, self, *others)
        return placed_own(found) if own and (name in OPERATORS or name == "__enter__") else found

    return method


def placed_own(found: Any) -> Any:
    """`found`, as an object that the test itself has made."""
    if isinstance(found, Remote):
        object.__setattr__(found, "_own", True)
    return found


def method(name: str) -> Callable[..., Any]:
    """A method of a mutable type, which the program carries out."""

    def method(self: Any, *others: Any, **keywords: Any) -> Any:
        return self._session.step("call", self._session.step("getattr", self, name), *others, **keywords)

    return method


def judging(name: str) -> Callable[..., Any]:
    """A method of a mutable type that says yes or no, which the content answers and not the program."""
    return lambda self, *others: getattr(plain_of(self), name)(*others)


def items(self: Any) -> Iterator[Any]:
    """The items of an object of the program; those of an iterator bit by bit, since it may have no end."""
    if not hasattr(type(self), "__next__"):
        yield from self._session.step("items", self, MOST_TAKEN)
        return
    taken, size = 0, 32
    while taken < MOST_TAKEN:
        found = self._session.step("items", self, size)
        yield from found
        if len(found) < size:
            return
        taken, size = taken + size, size * 4
    raise RuntimeError("the program's iterator has no end")


def plain_of(self: Any) -> Any:
    """The plain data that an object of the program is, or None."""
    for kind, plain in IMMUTABLE.items():
        if isinstance(self, kind):
            return plain(self)
    return self._session.step("plain", self)


class Mirror(type):
    """A class that stands for one of the program's. Its objects stand for those of that."""

    _session: Any
    _reference: Any

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        found = cls._session.step("call", cls, *arguments, **keywords)
        return placed_own(found) if cls in cls._session.chosen else found

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return cls._session.step("getattr", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            cls._session.step("setattr", cls, name, value)

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._session.step("items", cls, MOST_TAKEN))

    def __len__(cls) -> int:
        return cls._session.step("len", cls)

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return cls._session.step("getitem", cls, key)

    def __contains__(cls, item: Any) -> bool:
        if isinstance(item, StandIn | Mirror):
            return cls._session.step("contains", cls, item)
        return item in list(cls)


class StandIn:
    """What is called, and has attributes, in the program's process."""

    _session: Any

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._session.step("call", self, *arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        return self._session.step("getattr", self, name)


class Remote(StandIn):
    """An object of the program that is not plain data.

    It says what it is, but cannot judge the expectations of a test: it equals plain data only as the plain type says
    from which its class is derived, and cannot be compared with other data, added to them, or say what it contains,
    unless the test has made it itself, from a class that the test names, and has not got it as a result since. Among
    themselves, objects of the program are what the program says.
    """

    _reference: Any

    def __getattr__(self, name: str) -> Any:
        if name in JUDGING and not self.__dict__.get("_own", False):
            raise AttributeError(name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):  # as when an exception is raised
            object.__setattr__(self, name, value)
        else:
            self._session.step("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._session.step("delattr", self, name)

    def __next__(self) -> Any:
        return self._session.step("next", self)

    def __eq__(self, other: object) -> bool:
        return _compared("eq", self, other)

    def __ne__(self, other: object) -> bool:
        return _compared("ne", self, other)

    def __hash__(self) -> int:
        return hash(plain_of(self)) if isinstance(self, (*IMMUTABLE,)) else hash(str(self._reference))


def _compared(action: str, self: Any, other: Any) -> Any:
    if isinstance(other, StandIn):
        return self._session.step(action, self, other)
    plain = plain_of(self) if isinstance(self, (*IMMUTABLE, *MUTABLE)) else None
    if plain is None:
        return action == "ne" if action in ("eq", "ne") else NotImplemented
    return getattr(plain, f"__{action}__")(other)


def _ordering(action: str) -> Any:
    return lambda self, other: _compared(action, self, other)


for _action in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_action}__", _ordering(_action))


class Guess(StandIn):
    """A result that is not known yet. It meets every expectation, and is a result of the program in further steps."""

    def __init__(self, session: Any, reference: Any) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_reference", reference)

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.step("setattr", self, name, value)


def _ask(self: Guess, *_: Any) -> None:
    self._session.ask()


def _unknown(self: Guess, *_: Any) -> Guess:
    """Another one, which is not the result of a step."""
    return Guess(self._session, None)


def _true(self: Guess, *_: Any) -> bool:
    return True


for _name in (*OPERATORS, "__getitem__", "__neg__", "__abs__", "__round__"):
    setattr(Guess, _name, _unknown)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "contains"):
    setattr(Guess, f"__{_name}__", _true)
_ASKING = "len str repr int float complex index iter next hash setitem delitem instancecheck enter exit"
for _name in _ASKING.split():
    setattr(Guess, f"__{_name}__", _ask)
