"""What a JSON schema asks for, in a few words; where words would be many, as JSON."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from gem.tool.formats.standalone import as_json

_LONGEST = 1000
"""How many characters are said of one argument."""
_MOST_VALUES = 30
_NUMBER = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "string": frozenset(("minLength", "maxLength", "pattern", "format")),
    "integer": _NUMBER,
    "number": _NUMBER,
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems", "uniqueItems")),
    "boolean": frozenset(),
    "null": frozenset(),
    "object": frozenset(),
}
"""The types, and for each the keywords that are put into words. With any other keyword, the schema is shown as JSON."""


def in_words(schema: Mapping[str, Any], *, bare: bool = False) -> str:
    """What fits `schema`, one that `standalone` made. Its own description and default are left to the caller.

    Args:
        schema: what to put into words.
        bare: texts among the values that fit stand without quotes, as where an argument is given as plain text.

    >>> in_words({"type": "integer", "minimum": 1, "maximum": 12})
    'integer, 1 to 12'
    >>> in_words({"anyOf": [{"enum": ["km", "mi"]}, {"type": "null"}]})
    '"km", "mi" or null'
    """
    asked = {keyword: value for keyword, value in schema.items() if keyword not in ("description", "default")}
    return cut(_either(_kinds(asked, bare)), _LONGEST)


def cut(text: str, most: int) -> str:
    """At most so many characters of `text`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class _Kind(NamedTuple):
    """One kind of value that fits."""

    words: str
    whole: bool
    """Whether it can stand among other words without brackets."""


def _kinds(schema: Mapping[str, Any], bare: bool = False) -> list[_Kind]:
    keywords = schema.keys() - {"description", "default"}
    found = _with_words(schema, keywords, bare)
    if found is None:
        return [_Kind(as_json(schema), True)]
    said = schema.get("description")
    return [_Kind(f"{_either(found)}, {said}", False)] if said else found


def _with_words(schema: Mapping[str, Any], keywords: AbstractSet[str], bare: bool) -> list[_Kind] | None:
    """What fits the `keywords` of `schema`; None where there are no words for that."""
    if not keywords:
        return [_Kind("anything", True)]
    if keywords - {"type"} == {"const"}:
        return _values([schema["const"]], bare)
    if keywords - {"type"} == {"enum"} and schema["enum"]:
        return _values(schema["enum"], bare)
    for union in ("anyOf", "oneOf"):
        if keywords == {union} and schema[union]:
            return list(dict.fromkeys(kind for each in schema[union] for kind in _kinds(each)))
    given = schema.get("type", ())
    types: Sequence[str] = [given] if isinstance(given, str) else given
    if not types or not keywords <= {"type"}.union(*(_OF_TYPE.get(each, ()) for each in types)):
        return None
    if "array" in types and not _array_has_words(schema):
        return None
    every = (_of_type(each, schema) for each in types)
    return [_Kind(words, " " not in words) for words in every]


def _either(kinds: Sequence[_Kind]) -> str:
    """The kinds as a list that ends in "or"."""
    if len(kinds) == 1:
        return kinds[0].words
    *others, last = [words if whole else f"({words})" for words, whole in kinds]
    return f"{', '.join(others)} or {last}"


def _values(values: Sequence[Any], bare: bool) -> list[_Kind]:
    said = [as_json(value) for value in values[:_MOST_VALUES]]
    if bare:
        said = [each.removeprefix('"').removesuffix('"') for each in said]
    more = len(values) - _MOST_VALUES
    return [_Kind(each, True) for each in [*said, *([f"{more} others"] if more > 0 else [])]]


def _of_type(kind: str, schema: Mapping[str, Any]) -> str:
    match kind:
        case "integer" | "number":
            said = _number(schema)
        case "string":
            said = [_count(schema.get("minLength"), schema.get("maxLength"), "character")]
            said += [f"{name} {schema[key]}" for key, name in _OF_TEXT.items() if key in schema]
        case "array":
            return _array(schema)
        case _:
            said = []
    return ", ".join([kind, *filter(None, said)])


_OF_TEXT = {"format": "format", "pattern": "matching"}


def _number(schema: Mapping[str, Any]) -> list[str]:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    # In draft 4, these are flags.
    if isinstance(above, bool):
        low, above = (None, low) if above else (low, None)
    if isinstance(below, bool):
        high, below = (None, high) if below else (high, None)
    return [
        _range(low, high),
        "" if above is None else f"above {above}",
        "" if below is None else f"below {below}",
        f"a multiple of {schema['multipleOf']}" if "multipleOf" in schema else "",
    ]


def _array_has_words(schema: Mapping[str, Any]) -> bool:
    """Whether all items are alike, or there are exactly as many as are listed."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if first is None:
        return not isinstance(rest, list)
    most = len(first) if rest is False else schema.get("maxItems")
    return most == schema.get("minItems") == len(first)


def _array(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        words = f"array [{', '.join(_inside(each) for each in schema['prefixItems'])}]"
        said: list[str] = []
    else:
        words = f"array of {_inside(schema['items'])}" if "items" in schema else "array"
        said = [_count(schema.get("minItems"), schema.get("maxItems"), "item")]
    said.append("no two alike" if schema.get("uniqueItems") else "")
    return ", ".join([words, *filter(None, said)])


def _inside(schema: Any) -> str:
    if schema is False:
        return "nothing"
    kinds = _kinds(schema)
    return kinds[0].words if len(kinds) == 1 and kinds[0].whole else f"({_either(kinds)})"


def _count(low: Any, high: Any, thing: str) -> str:
    counted = _range(low or None, high)
    return f"{counted} {thing}{'' if counted.split()[-1] == '1' else 's'}" if counted else ""


def _range(low: Any, high: Any) -> str:
    if low is None and high is None:
        return ""
    if low == high:
        return f"exactly {low}"
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"{low} to {high}"
