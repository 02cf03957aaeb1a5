"""A JSON schema as an agent is shown it: without what is of no use for a call, and of bounded size."""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, cast

_MOST = 10_000
"""Characters of a schema, as JSON."""
_LIMITS = ((30, 1000, 1000), (10, 100, 200), (10, 100, 50), (6, 30, 50), (4, 10, 50), (3, 6, 30))
"""Levels, entries of an object or array, and characters of a text: tried in turn until the schema is small enough."""
_ABOUT_ITSELF = frozenset(("title", "$schema", "$id", "$comment"))
"""Keywords that say nothing about values; titles repeat names. An argument can have such a name, too."""
_OF_VALUES = frozenset(("const", "default", "enum", "examples"))
"""Keywords whose objects are values, and not schemas."""
_LEFT_OUT = "…"


def compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `schema` without titles and the like; of one that is too large, what is deep or long is left out.

    References stay references, so a copy is never larger than the schema. It takes little time, whatever `schema` is.

    >>> compact({"title": "Day", "type": "object", "properties": {"day": {"title": "Day", "type": "integer"}}})
    {'type': 'object', 'properties': {'day': {'type': 'integer'}}}
    """
    shown: dict[str, Any] = {}
    for depth, width, length in _LIMITS:
        shown = _Copy(width, length).of(schema, depth)
        if len(as_json(shown)) <= _MOST:
            break
    return shown


def as_json(value: object) -> str:
    """JSON with every letter as it is, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


class _Copy:
    def __init__(self, width: int, length: int) -> None:
        self._width, self._length = width, length
        # A Python object can occur in several places, so a small schema may have billions of parts.
        self._left = _MOST

    def of(self, value: Any, depth: int, *, is_schema: bool = True) -> Any:
        if isinstance(value, str):
            return value if len(value) <= self._length else value[: self._length] + _LEFT_OUT
        if not isinstance(value, Mapping | list | tuple):
            return value
        self._left -= 1
        if depth == 0 or self._left < 0:
            return _LEFT_OUT
        rest = len(cast("Sequence[Any]", value)) > self._width
        if isinstance(value, Mapping):
            entries = islice(cast("Mapping[str, Any]", value).items(), self._width)
            copy = {
                self.of(key, 0): self.of(each, depth - 1, is_schema=is_schema and key not in _OF_VALUES)
                for key, each in entries
                if not (is_schema and key in _ABOUT_ITSELF and isinstance(each, str))
            }
            return copy | {_LEFT_OUT: _LEFT_OUT} if rest else copy
        items = [
            self.of(each, depth - 1, is_schema=is_schema) for each in islice(cast("Sequence[Any]", value), self._width)
        ]
        return [*items, _LEFT_OUT] if rest else items
