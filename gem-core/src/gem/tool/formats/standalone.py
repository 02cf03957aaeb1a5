"""A JSON schema that can be read on its own: what it refers to stands in it, and its size has a bound.

The keywords are those of JSON Schema 2020-12 (https://json-schema.org/draft/2020-12/schema) and of the drafts before.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

_DEEPEST = 16
_MOST = 2000
"""How many schemas in schemas are copied. References to references can stand for billions."""
_LEFT_OUT = "…"

_ABOUT = ("description", "default")
_PLAIN = frozenset((
    "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "minItems", "maxItems", "uniqueItems",
    "minContains", "maxContains", "minProperties", "maxProperties", "required", "dependentRequired", *_ABOUT,
))  # fmt: skip
_WITH_SCHEMAS = frozenset((
    "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties",
    "unevaluatedProperties", "propertyNames", "anyOf", "oneOf", "not", "if", "then", "else", "contentSchema",
))  # fmt: skip
_BY_NAME = frozenset(("properties", "patternProperties", "dependentSchemas", "dependencies"))
_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems", "enum", "required"), (list, tuple)),
    **dict.fromkeys(_BY_NAME, Mapping),
    **dict.fromkeys(("$ref", "description"), str),
    "type": (str, list, tuple),
}
"""Of what shape a value has to be. Servers send what they like (`"required": true` is common); else it says nothing."""
_OF_NAMES = frozenset(("type", "required"))
_OPEN = frozenset(("items", "additionalItems", "unevaluatedItems", "additionalProperties", "unevaluatedProperties"))
"""Keywords that say nothing where anything fits."""


def standalone(root: Mapping[str, Any]) -> dict[str, Any]:
    """`root` with what each `$ref` points at in its place, without titles and other keywords that bind nothing.

    A schema that holds itself is copied once and gets an `$anchor`, to which `$ref` then points. References to other
    documents stay. What is nested too deeply, or too much, is left out; a description "…" says so.

    >>> standalone({"items": {"$ref": "#/$defs/day"}, "$defs": {"day": {"title": "Day", "type": "integer"}}})
    {'items': {'type': 'integer'}}
    """
    return _Copy(root).of(root, _DEEPEST, ())


def as_json(value: object) -> str:
    """JSON with every letter as it is."""
    return json.dumps(value, ensure_ascii=False, default=str)


class _Copy:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST
        self._holds_itself: set[str] = set()

    def of(self, schema: Any, depth: int, trail: tuple[str, ...]) -> dict[str, Any]:
        """A copy of `schema`, to which the references in `trail` have led."""
        if not isinstance(schema, Mapping):
            return {"not": {}} if schema is False else {}
        self._left -= 1
        if depth == 0 or self._left < 0:
            return {"description": _LEFT_OUT}
        given = cast("Mapping[str, Any]", schema)
        own: dict[str, Any] = {}
        parts: list[dict[str, Any]] = []
        # The type goes first, because it is the first thing to know.
        for keyword, value in sorted(given.items(), key=lambda item: item[0] != "type"):
            if not isinstance(value, _SHAPES.get(keyword, object)):
                continue
            if keyword in _OF_NAMES and not all(isinstance(each, str) for each in value):
                continue
            if keyword == "$ref":
                parts.append(self._target(value, depth - 1, trail))
            elif keyword == "allOf":
                parts += [self.of(each, depth - 1, trail) for each in value]
            elif keyword in _PLAIN:
                own[keyword] = _shallow(value, depth - 1)
            elif keyword in _BY_NAME:
                own[keyword] = {name: self._named(keyword, each, depth - 1, trail) for name, each in value.items()}
            elif keyword in _WITH_SCHEMAS:
                inner = self._inner(value, depth - 1, trail)
                if keyword not in _OPEN or inner != {}:
                    own[keyword] = inner
        return _together(own, parts)

    def _named(self, keyword: str, value: Any, depth: int, trail: tuple[str, ...]) -> Any:
        """What stands under a name: a schema, or (under `dependencies`) names."""
        if isinstance(value, list | tuple):
            names = cast("Sequence[Any]", value) if keyword == "dependencies" else ()
            return [each for each in names if isinstance(each, str)] or {}
        return self._inner(value, depth, trail)

    def _inner(self, value: Any, depth: int, trail: tuple[str, ...]) -> Any:
        """What stands under a keyword: a schema, or several."""
        if isinstance(value, list | tuple):
            return [self.of(each, depth, trail) for each in cast("Sequence[Any]", value)]
        return value is not False and self.of(value, depth, trail)

    def _target(self, pointer: str, depth: int, trail: tuple[str, ...]) -> dict[str, Any]:
        target = _at(self._root, pointer)
        if target is None:
            return {"$ref": pointer}
        name = pointer.rpartition("/")[2].strip("#") or "arguments"
        if pointer in trail:
            self._holds_itself.add(pointer)
            return {"$ref": f"#{name}"}
        found = self.of(target, depth, (*trail, pointer))
        return {"$anchor": name, **found} if pointer in self._holds_itself else found


def _at(root: Mapping[str, Any], pointer: str) -> Any:
    """What the JSON pointer in `#/…` points at (RFC 6901), or None if that is nothing in `root`."""
    if pointer != "#" and not pointer.startswith("#/"):
        return None
    place: Any = root
    for part in unquote(pointer[1:]).split("/")[1:]:
        if isinstance(place, list):
            place = {str(number): each for number, each in enumerate(cast("list[Any]", place))}
        if not isinstance(place, Mapping):
            return None
        place = cast("Mapping[str, Any]", place).get(part.replace("~1", "/").replace("~0", "~"))
    return place


def _together(own: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema that says what `own` and all `parts` say."""
    if len(parts) == 1 and own.keys() <= set(_ABOUT):
        return {**parts[0], **own}
    return {**own, "allOf": parts} if parts else own


def _shallow(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, Any]", value)
        return {name: _shallow(each, depth - 1) for name, each in inner.items()} if depth else _LEFT_OUT
    if isinstance(value, list):
        return [_shallow(each, depth - 1) for each in cast("list[Any]", value)] if depth else _LEFT_OUT
    return value
