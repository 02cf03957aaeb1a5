"""Comparing the result of a function with the one expected."""

import math
from typing import Any, cast

from gem_envs_code.checkers import close
from gem_envs_code.inside.wire import decode
from gem_envs_code.tasks import Same

_EQUAL = ("Fraction", "Decimal", "dict_keys")
"""Types that are not plain, whose values may equal plain data."""
_MOST_HASHED = 1000
"""Items of a frozenset as a key: a program can choose keys that all have the same hash."""


def same_result(found: Any, expected: Any, same: Same, tolerance: float = 0.0) -> bool:
    """Compare the result of a function with the one expected.

    Args:
        found: the result as `gem_envs_code.inside.wire.encode` gives it. It comes from the program: no dict or set is
            built from it that is larger than expected, and what `encode` could not have made is not right.
        expected: plain data.
        same: see `gem_envs_code.tasks.Same`.
        tolerance: how far numbers may be from those expected, absolutely or relatively.
    """
    if same == "livecodebench" and _kind(found)[0] == "tuple":
        found = _kind(found)[1]
    try:
        return _same(found, expected, same, tolerance)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError):
        return False


def _same(found: Any, expected: Any, same: Same, tolerance: float) -> bool:
    kind, content = _kind(found)
    if kind == "ndarray" and same == "json":
        return _same(content[0], expected, same, tolerance)
    own = type(expected).__name__
    if kind == "dict_keys" and not (isinstance(expected, set) and len(content[0]) == len(cast("set[Any]", expected))):
        return False
    if kind in _EQUAL and same != "json":
        value = decode(found)
        return value == expected or (isinstance(expected, int | float) and _near(value, expected, tolerance))
    if expected is None or isinstance(expected, str):
        return kind == own and content == expected
    if isinstance(expected, int | float):  # bool too
        return _same_number(kind, content, expected, same, tolerance)
    if isinstance(expected, list | tuple):
        items = cast("list[Any]", expected)
        if kind != own and not (same == "json" and kind in ("list", "tuple")):
            return False
        return len(content) == len(items) and all(
            _same(ours, theirs, same, tolerance) for ours, theirs in zip(content, items, strict=True)
        )
    if isinstance(expected, dict):
        return kind == "dict" and _same_dict(content, cast("dict[Any, Any]", expected), same, tolerance)
    if isinstance(expected, set | frozenset):
        things = cast("set[Any]", expected)
        return (
            kind in ("set", "frozenset")
            and len(content) == len(things)
            and {_key(_hashable(item), same) for item in content} == {_key(item, same) for item in things}
        )
    if isinstance(expected, bytes | bytearray):
        return kind in ("bytes", "bytearray") and content == expected.hex()
    return kind == own == "complex" and complex(*content) == expected


def _kind(found: Any) -> tuple[str, Any]:
    """The name of the type of an encoded value, and its content."""
    if not isinstance(found, dict):
        return type(found).__name__, found
    ((kind, content),) = cast("dict[str, Any]", found).items()
    return kind, int(content, 16) if kind == "int" else content


def _same_number(kind: str, content: Any, expected: float, same: Same, tolerance: float) -> bool:
    if kind == "complex" and same != "json":
        return complex(*content) == expected
    if kind not in ("bool", "int", "float"):
        return False
    if same == "json":
        if (kind == "bool") != isinstance(expected, bool):
            return False
        if kind == "float" and isinstance(expected, int) and not tolerance:
            return False
    if content == expected:
        return True
    if same == "json" and isinstance(content, float) and math.isnan(content) and math.isnan(expected):
        return True
    if isinstance(expected, bool):
        return False
    return _near(content, expected, tolerance)


def _near(found: Any, expected: float, tolerance: float) -> bool:
    try:
        return bool(tolerance) and close(float(found), float(expected), tolerance)
    except OverflowError:
        return False


def _same_dict(pairs: list[Any], expected: dict[Any, Any], same: Same, tolerance: float) -> bool:
    if len(pairs) != len(expected):
        return False
    wanted = {_key(key, same): value for key, value in expected.items()}
    for key, value in pairs:
        own = _hashable(key)
        found = _key(own, same)
        if found not in wanted and same == "json":
            found = _key(_text(own), same)
        if found not in wanted or not _same(value, wanted.pop(found), same, tolerance):
            return False
    return True


def _key(value: Any, same: Same) -> Any:
    """The value that two keys, or items of a set, share if they are the same."""
    return (type(value).__name__, value) if same == "json" else value


def _text(key: Any) -> str:
    """A key as text, as JSON writes it."""
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else "null" if key is None else str(key)


def _hashable(found: Any) -> Any:
    kind, content = _kind(found)
    if kind == "tuple":
        return tuple(map(_hashable, content))
    if kind == "frozenset" and len(content) <= _MOST_HASHED:
        return frozenset(map(_hashable, content))
    if kind in ("bytes", "complex"):
        return bytes.fromhex(content) if kind == "bytes" else complex(*content)
    if kind not in ("NoneType", "bool", "int", "float", "str"):
        raise TypeError(f"{kind} is not a key")
    return content
