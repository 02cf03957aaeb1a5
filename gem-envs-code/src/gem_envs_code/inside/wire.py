"""Plain data as JSON: how arguments get to a program, and how results come back.

None, bool, int, float, str and list are themselves; any other type is an object with one key, the name of the type.
What is not plain data can be a reference, `{"object": …}`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

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


class NotPlain(Exception):
    """A value is not plain data, or nested too deeply."""


def refuse(value: Any) -> Any:
    """Encode what is not plain data: not at all."""
    raise NotPlain(f"a value of type {type(value).__name__} is not plain data")


def encode(value: Any, other: Callable[[Any], Any] = refuse, depth: int = 0) -> Any:
    """`value` for JSON. A value of a subclass of a plain type is encoded by the methods of the plain type.

    Args:
        other: encodes a value of another type.

    Raises:
        NotPlain: the value, or one in it, is of another type.
    """
    kind: Any = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if depth > _DEEPEST:
        raise NotPlain("it is nested too deeply")
    if issubclass(kind, int):
        whole = int.__pos__(value)
        return whole if whole.bit_length() <= _LONG else {"int": hex(whole)}
    if issubclass(kind, float):
        return float.__pos__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, list):
        return [encode(item, other, depth + 1) for item in _LIST(value)]
    if issubclass(kind, tuple):
        return {"tuple": [encode(item, other, depth + 1) for item in _TUPLE(value)]}
    if issubclass(kind, dict):
        return {"dict": [[encode(key, other, depth + 1), encode(item, other, depth + 1)] for key, item in _DICT(value)]}
    for name, items in _SETS.items():
        if issubclass(kind, items.__objclass__):
            return {name: [encode(item, other, depth + 1) for item in items(value)]}
    for name, text in _BYTES.items():
        if issubclass(kind, text.__objclass__):
            return {name: text(value)}
    if issubclass(kind, complex):
        return {"complex": [float(value.real), float(value.imag)]}
    return other(value)


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
        other: what `{"object": reference}` stands for.
    """
    if isinstance(found, list):
        return [decode(item, other) for item in cast("list[Any]", found)]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = cast("dict[str, Any]", found).items()
    if kind == "object":
        return other(content)
    if kind == "dict":
        return {decode(key, other): decode(item, other) for key, item in content}
    if kind == "int":
        return int(content, 16)
    if kind in ("bytes", "bytearray"):
        return bytes.fromhex(content) if kind == "bytes" else bytearray.fromhex(content)
    if kind == "complex":
        return complex(*content)
    made = {"tuple": tuple, "set": set, "frozenset": frozenset}[kind]
    return made(decode(item, other) for item in content)
