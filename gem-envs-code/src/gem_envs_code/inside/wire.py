"""Plain data as JSON: how arguments get to a program, and how results come back.

None, bool, int, float, str and list are themselves; any other type is an object with one key, the name of the type.
Values of the standard library, such as a fraction or a date, come as what makes them, and so do numpy's arrays of
numbers; a single number of numpy is one of Python. Anything else can be a reference, such as `{"object": …}`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

import builtins
import collections
import datetime
import decimal
import fractions
import sys
from collections.abc import Callable
from typing import Any, cast

_DEEPEST = 60
_LEVELS = 4 * _DEEPEST + 4  # of JSON, at most: a dict takes four
_LONG = 1000  # bits; Python refuses to write or read longer integers than about 14,000 bits as decimals


_LIST: Any = list.__iter__
_TUPLE: Any = tuple.__iter__
_DICT: Any = dict.items
_SETS: dict[str, Any] = {"set": set.__iter__, "frozenset": frozenset.__iter__}
_BYTES: dict[str, Any] = {"bytes": bytes.hex, "bytearray": bytearray.hex}
_PLAIN: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


_FACTORIES: dict[str, Any] = {kind.__name__: kind for kind in (list, dict, set, tuple, int, float, str, bool)}
_VALUES: dict[Any, Callable[[Any], list[Any] | None]] = {
    fractions.Fraction: lambda value: [value.numerator, value.denominator],
    decimal.Decimal: lambda value: [str(value)],
    datetime.timedelta: lambda value: [value.days, value.seconds, value.microseconds],
    datetime.datetime: lambda value: _fields(value, "year month day hour minute second microsecond"),
    datetime.date: lambda value: _fields(value, "year month day"),
    datetime.time: lambda value: _fields(value, "hour minute second microsecond"),
    range: lambda value: [value.start, value.stop, value.step],
    type({}.keys()): lambda value: [list(value)],
    collections.deque: lambda value: [list(value), value.maxlen],
    collections.Counter: lambda value: [dict(value)],
    collections.OrderedDict: lambda value: [dict(value)],
    collections.defaultdict: lambda value: _of_factory(value),  # noqa: PLW0108
}
"""What makes a value of each of these types; None for one that travels as a reference."""
_NUMBERS = {"bool", "float16", "float32", "float64", "complex64", "complex128"} | {
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
}
"""The types of items of the arrays that travel: those that numbers of Python can be turned into and back."""
_MADE: dict[str, Callable[..., Any]] = {
    "ndarray": lambda *parts: _array(*parts),  # noqa: PLW0108
    **{kind.__name__: kind for kind in _VALUES},
    "dict_keys": lambda keys: dict.fromkeys(keys).keys(),
    "defaultdict": lambda name, items: collections.defaultdict(name and _FACTORIES[name], items),
    "Fraction": lambda over, under: fractions.Fraction(_short(over), _short(under)),
}
CLASSES: dict[str, Any] = {
    **{name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)},
    **{kind.__name__: kind for kind in _VALUES},
}
"""Classes that are the same on both sides, by their names."""
_MOST_BITS = 100_000  # of the numbers of a fraction, which are divided by what they have in common


def _fields(value: Any, names: str) -> list[Any] | None:
    return None if getattr(value, "tzinfo", None) else [getattr(value, name) for name in names.split()]


def _of_factory(value: Any) -> list[Any] | None:
    made = value.default_factory
    name = getattr(made, "__name__", "")
    return [name, dict(value)] if made is None or _FACTORIES.get(name) is made else None


def _array(items: Any, of: str, shape: list[int]) -> Any:
    if of not in _NUMBERS or "numpy" not in sys.modules:
        raise ValueError(f"an array of {of!r:.20}")
    return sys.modules["numpy"].array(items, of).reshape(shape)


def is_array(value: Any) -> bool:
    """Tell whether a value is an array of numpy that travels: one of numbers or truth values."""
    return type(value) is getattr(sys.modules.get("numpy"), "ndarray", None) and str(value.dtype) in _NUMBERS


def fill(changed: Any, now: Any) -> None:
    """Put what `now` holds in the place of what `changed` does: arrays, or lists, dicts and the like.

    Raises:
        ValueError: they are arrays of different shapes or types.
    """
    if is_array(changed):
        if (changed.shape, changed.dtype) != (now.shape, now.dtype):
            raise ValueError("an array keeps its shape and its type")
        changed[...] = now
        return
    changed.clear()
    (changed.extend if hasattr(changed, "extend") else changed.update)(now)


def differ(one: Any, other: Any) -> bool:
    """Tell whether two encodings differ: `!=` says that NaN differs from itself, and True does not from 1."""
    return repr(one) != repr(other)


def _short(number: int) -> int:
    if number.bit_length() > _MOST_BITS:
        raise ValueError("a fraction of numbers that are too long")
    return number


class NotPlain(Exception):
    """A value is not plain data."""


class TooDeep(NotPlain):
    """A value is nested too deeply."""


def refuse(value: Any) -> Any:
    """Encode what is not plain data: not at all."""
    raise NotPlain(f"a value of type {type(value).__name__} is not plain data")


def encode(value: Any, other: Callable[[Any], Any] = refuse, depth: int = 0) -> Any:
    """`value` for JSON.

    Args:
        other: encodes a value of another type. Without it, a value of a subclass of a plain type is encoded by the
            methods of the plain type.

    Raises:
        NotPlain: the value, or one in it, is of another type.
    """
    kind: Any = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if depth > _DEEPEST:
        raise TooDeep("it is nested too deeply")
    found = _plain(value, kind, other, depth, issubclass if other is refuse else _is)
    if found is not None:
        return found
    if other is refuse:
        kind = next((each for each in (fractions.Fraction, decimal.Decimal) if issubclass(kind, each)), kind)
    parts = _VALUES[kind](value) if kind in _VALUES else None
    if parts is None:
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            item = value.item()
            if isinstance(item, numpy.generic):  # of more digits than Python's numbers have
                item = complex(value) if isinstance(value, numpy.complexfloating) else float(value)
            return encode(item, other, depth)
        if is_array(value):
            return {"ndarray": [encode(value.tolist(), other, depth + 1), str(value.dtype), [*value.shape]]}
        return other(value)
    return {kind.__name__: [encode(part, other, depth + 1) for part in parts]}


def content(value: Any, other: Callable[[Any], Any]) -> Any:
    """The encoding of a value of a subclass of a plain type, by the methods of that, or None for any other value."""
    return _plain(value, type(value), other, 0, issubclass)


def _is(kind: Any, plain: Any) -> bool:
    return kind is plain


def _plain(value: Any, kind: Any, other: Callable[[Any], Any], depth: int, is_of: Callable[[Any, Any], bool]) -> Any:
    if is_of(kind, int):
        whole = int.__pos__(value)
        return whole if whole.bit_length() <= _LONG else {"int": hex(whole)}
    if is_of(kind, float):
        return float.__pos__(value)
    if is_of(kind, str):
        return str.__str__(value)
    if is_of(kind, list):
        return [encode(item, other, depth + 1) for item in _LIST(value)]
    if is_of(kind, tuple):
        return {"tuple": [encode(item, other, depth + 1) for item in _TUPLE(value)]}
    if is_of(kind, dict):
        return {"dict": [[encode(key, other, depth + 1), encode(item, other, depth + 1)] for key, item in _DICT(value)]}
    for name, items in _SETS.items():
        if is_of(kind, items.__objclass__):
            return {name: [encode(item, other, depth + 1) for item in items(value)]}
    for name, text in _BYTES.items():
        if is_of(kind, text.__objclass__):
            return {name: text(value)}
    if is_of(kind, complex):
        return {"complex": [float(value.real), float(value.imag)]}
    return None


def is_shallow(found: Any) -> bool:
    """Tell whether JSON is nested as `encode` makes it, or less. Only such values are safe to recurse into."""
    level = [found]
    for _ in range(_LEVELS):
        nested = [each for each in level if isinstance(each, list | dict)]
        if not nested:
            return True
        level = [item for each in nested for item in (each.values() if isinstance(each, dict) else each)]
    return False


def no_object(reference: Any) -> Any:
    """The object of a reference, where there are none."""
    raise ValueError(f"a reference to an object: {reference!r:.80}")


def decode(found: Any, other: Callable[[Any], Any] = no_object) -> Any:
    """The value that was encoded.

    Args:
        other: what a reference, such as `{"object": …}`, stands for.
    """
    if isinstance(found, list):
        return [decode(item, other) for item in cast("list[Any]", found)]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = cast("dict[str, Any]", found).items()
    if kind == "dict":
        return {decode(key, other): decode(item, other) for key, item in content}
    if kind == "int":
        return int(content, 16)
    if kind in ("bytes", "bytearray"):
        return bytes.fromhex(content) if kind == "bytes" else bytearray.fromhex(content)
    if kind == "complex":
        return complex(*content)
    if kind in _MADE:
        return _MADE[kind](*(decode(part, other) for part in content))
    if kind not in _PLAIN:
        return other(found)
    return _PLAIN[kind](decode(item, other) for item in content)
