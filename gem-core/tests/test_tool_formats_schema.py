"""What the formats in text tell an agent of a tool's arguments, from their JSON schema alone."""

import json
import random
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tool_samples import now, python, search

from gem.tool import FORMATS, Tool, ToolCall, tool
from gem.tool.formats.schema_words import in_words
from gem.tool.formats.standalone import standalone

TEXT_FORMATS = ["tags", "fenced", "gem"]


def told(each: Tool, format: str = "tags") -> str:
    """What the agent is told of this one tool, after the sentence on how to call tools."""
    return FORMATS[format].describe({each.name: each}).partition("\n\n")[2]


def by_hand(parameters: dict[str, Any]) -> Tool:
    return Tool(name="x", description="X.", parameters=parameters, function=str)


class Unit(Enum):
    KILOMETRES = "km"
    MILES = "mi"


class Place(BaseModel):
    """Where it is."""

    north: float
    names: list[str] = []


class Tree(BaseModel):
    left: "Tree | None" = None


@tool
def walk(
    far: Annotated[float, Field(gt=0)],
    unit: Literal["km", "mi"],
    note: str | None = None,
    start: Place | None = None,
    days: list[int] = [],  # noqa: B006
    spot: tuple[int, str] = (1, "a"),
    pace: Annotated[int, Field(ge=1, le=10)] = 2,
    counted: dict[str, int] | None = None,
    best: Unit = Unit.MILES,
    tree: Tree | None = None,
) -> str:
    """Plan a walk.

    Args:
        unit: of the distance.
        pace: how fast.
    """
    return f"{far} {unit}, {pace}"


def test_every_argument_is_told_with_what_fits_it_and_its_default() -> None:
    names = ["far", "unit", "note", "start", "days", "spot", "pace", "counted", "best", "tree"]
    place = (
        '{"type": "object", "description": "Where it is.", "properties": {"north": {"type": "number"}, '
        '"names": {"type": "array", "default": [], "items": {"type": "string"}}}, "required": ["north"]}'
    )
    tree = '{"anyOf": [{"$ref": "#Tree"}, {"type": "null"}], "default": null}'
    tree = f'{{"$anchor": "Tree", "type": "object", "properties": {{"left": {tree}}}}}'

    assert told(walk).splitlines() == [
        f"<walk>{json.dumps(dict.fromkeys(names, 0)).replace('0', '…')}</walk>",
        "Plan a walk.",
        "- far: number, above 0",
        '- unit: "km" or "mi", of the distance.',
        "- note: string or null, optional, default null",
        f"- start: {place} or null, optional, default null",
        "- days: array of integer, optional, default []",
        '- spot: array [integer, string], optional, default [1, "a"]',
        "- pace: integer, 1 to 10, optional, default 2, how fast.",
        '- counted: {"type": "object", "additionalProperties": {"type": "integer"}} or null, optional, default null',
        '- best: "km" or "mi", optional, default "mi"',
        f"- tree: {tree} or null, optional, default null",
    ]


@pytest.mark.parametrize("format", ["tags", "gem"])
def test_a_tool_with_plain_text_or_nothing_to_say_reads_as_short_as_it_can(format: str) -> None:
    assert told(python, format) == "<python>code</python>\nRun a program."
    assert told(now, format) == "<now></now>\nWhat time it is."
    titled = {"title": "xArguments", "properties": {"q": {"title": "Q", "type": "string"}}, "required": ["q"]}
    assert told(by_hand({**titled, "type": "object", "additionalProperties": False}), format) == "<x>q</x>\nX."
    assert told(by_hand({**titled, "required": ["q"], "$schema": "…"}), format) == "<x>q</x>\nX."


def test_a_tool_that_takes_text_says_how_to_give_its_other_arguments() -> None:
    assert told(search) == (
        "<search>query</search>\n"
        "Look something up.\n"
        "- query: string, what to look for.\n"
        "- top: integer, optional, default 3, how many documents.\n"
        "Or, to give other arguments too:\n"
        '<search>{"query": …, "top": …}</search>'
    )
    assert told(search, "fenced").endswith('too:\n```search\n{"query": …, "top": …}\n```')


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_the_examples_are_calls_once_they_are_filled_in(format: str) -> None:
    chosen, tools = FORMATS[format], {"search": search, "walk": walk}
    text = "".join(f"{told(each, format)}\n" for each in tools.values())
    marks = ("```{}\n", "\n```") if format == "fenced" else ("<{}>", "</{}>")
    found = []
    for name in tools:
        opening, closing = (mark.format(name) for mark in marks)
        bodies = [piece.partition(closing)[0] for piece in text.split(opening)[1:]]
        said = [opening + body.replace("…", "1") + closing for body in bodies]
        found += [chosen.read(each, tools) for each in said]

    of_walk = dict.fromkeys(["far", "unit", "note", "start", "days", "spot", "pace", "counted", "best", "tree"], 1)
    assert found == [
        ToolCall("search", {"query": "query"}),
        ToolCall("search", {"query": 1, "top": 1}),
        ToolCall("walk", of_walk),
    ]


def test_values_of_an_argument_that_is_plain_text_stand_as_they_are_written() -> None:
    parameters = {"properties": {"unit": {"type": "string", "enum": ["km", "mi", "l. y."]}}, "required": ["unit"]}
    each = by_hand(parameters)

    assert told(each) == "<x>unit</x>\nX.\n- unit: km, mi or l. y."
    assert FORMATS["tags"].read("<x>l. y.</x>", {"x": each}) == ToolCall("x", {"unit": "l. y."})


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
WORDS = [
    ({}, "anything"),
    ({"title": "T", "x-order": 1, "examples": [1]}, "anything"),
    ({"const": "a"}, '"a"'),
    ({"enum": ["a", 1, None, True]}, '"a", 1, null or true'),
    ({"enum": [*range(40)]}, f"{', '.join(map(str, range(30)))} or 10 others"),
    ({"enum": []}, '{"enum": []}'),
    ({"type": ["string", "null"], "maxLength": 1}, "(string, at most 1 character) or null"),
    ({"type": ["string", "null"], "enum": ["a", None]}, '"a" or null'),
    ({"type": "string", "minLength": 2, "maxLength": 5}, "string, 2 to 5 characters"),
    ({"type": "string", "minLength": 3, "maxLength": 3}, "string, exactly 3 characters"),
    ({"type": "string", "minLength": 0}, "string"),
    ({"type": "string", "format": "date", "pattern": "^2"}, "string, format date, matching ^2"),
    ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, "number, at least 0, below 1"),
    ({"type": "number", "minimum": 0.5, "exclusiveMinimum": True}, "number, above 0.5"),
    ({"type": "number", "maximum": 2, "exclusiveMaximum": False}, "number, at most 2"),
    ({"type": "integer", "multipleOf": 5}, "integer, a multiple of 5"),
    ({"type": "array"}, "array"),
    ({"type": "array", "items": {}}, "array"),
    ({"type": "array", "items": {"enum": ["a", "b"]}}, 'array of ("a" or "b")'),
    ({"type": "array", "items": {"type": "array", "items": INTEGER}}, "array of (array of integer)"),
    ({"type": "array", "items": {**STRING, "description": "a name"}}, "array of (string, a name)"),
    ({"type": "array", "items": INTEGER, "minItems": 1}, "array of integer, at least 1 item"),
    ({"type": "array", "uniqueItems": True, "maxItems": 2}, "array, at most 2 items, no two alike"),
    ({"type": "array", "prefixItems": [INTEGER, {}], "items": False, "minItems": 2}, "array [integer, anything]"),
    ({"type": "array", "prefixItems": [INTEGER]}, '{"type": "array", "prefixItems": [{"type": "integer"}]}'),
    ({"type": "array", "items": [INTEGER]}, '{"type": "array", "items": [{"type": "integer"}]}'),
    ({"type": "object"}, "object"),
    ({"type": "object", "additionalProperties": True}, "object"),
    ({"type": "object", "additionalProperties": False}, '{"type": "object", "additionalProperties": false}'),
    ({"minimum": 3}, '{"minimum": 3}'),
    ({"not": STRING}, '{"not": {"type": "string"}}'),
    ({"not": True, "description": "D."}, '{"not": {}}'),
    ({"anyOf": [STRING, {"anyOf": [INTEGER, STRING]}, {"enum": [None]}]}, "string, integer or null"),
    ({"oneOf": [{"const": "a", "description": "first"}, False]}, '("a", first) or {"not": {}}'),
    ({"anyOf": [STRING, INTEGER], "minimum": 3}, None),
    ({"allOf": [INTEGER]}, "integer"),
    ({"allOf": [{"minimum": 1}, {"minimum": 2}]}, '{"allOf": [{"minimum": 1}, {"minimum": 2}]}'),
    ({"$ref": "#/$defs/day", "$defs": {"day": {**INTEGER, "minimum": 1}}}, "integer, at least 1"),
    (
        {"$ref": "#/definitions/day", "definitions": {"day": INTEGER}, "maximum": 3},
        '{"maximum": 3, "allOf": [{"type": "integer"}]}',
    ),
    ({"$ref": "#/$defs/a~1b%20c/anyOf/1", "$defs": {"a/b c": {"anyOf": [STRING, INTEGER]}}}, "integer"),
    ({"$ref": "#/$defs/none"}, '{"$ref": "#/$defs/none"}'),
    ({"$ref": "https://example.org/day.json"}, '{"$ref": "https://example.org/day.json"}'),
    ({"$ref": "#"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "words"), WORDS, ids=range(len(WORDS)))
def test_a_schema_is_put_into_words_or_shown(schema: dict[str, Any], words: str | None) -> None:
    said = in_words(standalone(schema))

    if words is None:
        assert isinstance(json.loads(said), dict)
    else:
        assert said == words


def test_names_of_arguments_are_no_keywords_and_values_are_no_schemas() -> None:
    properties = {"$ref": INTEGER, "title": STRING, "allOf": {"const": {"$ref": "#", "title": 1}}, "default": STRING}

    assert standalone({"properties": properties}) == {"properties": properties}


def test_what_binds_several_arguments_is_told_and_what_is_only_required_too() -> None:
    several = {
        "properties": {"a": INTEGER, "b": INTEGER, "c": False},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert told(by_hand(several)).splitlines()[2:] == [
        "- a: integer, optional",
        "- b: integer, optional",
        'All arguments together: {"required": ["a"]} or {"required": ["b"]}',
    ]
    elsewhere = {"$ref": "#/$defs/all", "$defs": {"all": {"properties": {"a": True}, "required": ["a", "b"]}}}
    assert told(by_hand(elsewhere)) == '<x>{"a": …, "b": …}</x>\nX.\n- a: anything\n- b: anything'


CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5000)}
LAUGHS = {name: {"anyOf": [to_next, {**to_next, "title": "T"}]} for name, to_next in CHAIN.items()}
DEEP: Any = 1
NESTED: Any = {}
for _ in range(400):
    DEEP, NESTED = [DEEP], {"type": "array", "items": NESTED}
HOSTILE = [
    {"$defs": LAUGHS, "properties": {"a": {"$ref": "#/$defs/d0"}}},
    {"$defs": CHAIN, "properties": {"a": {"$ref": "#/$defs/d0"}}},
    {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#/properties/c"}, "c": {"$ref": "#/properties/b"}}},
    {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    {"$ref": "#"},
    {"allOf": [{"$ref": "#"}, {"$ref": "#/allOf/0"}]},
    {"properties": {"a": NESTED, "b": {"default": DEEP}, "c": {"const": DEEP}, "d": {"enum": [DEEP]}}},
    {"properties": {f"a{n}": {"type": "integer", "description": "long " * 50} for n in range(20_000)}},
    {"properties": {"a": {"enum": [f"v{n}" for n in range(100_000)]}, "b": {"enum": ["v" * 100_000] * 50}}},
    {"properties": {"a" * 100_000: {"description": "d" * 100_000, "default": "d" * 100_000}}},
    {"properties": {"a\n": {"pattern": "p" * 100_000, "type": "string"}, '"': True}, "required": ["a\n"]},
    {"properties": {"a": True}, "required": ["a"]},
    {"properties": {"a": False}, "required": ["a"]},
    {"properties": {"a": {"required": True, "type": "string", "anyOf": {}, "enum": None, "items": 1, "$ref": 5}}},
    {"properties": {"a": {"type": []}, "b": {"anyOf": []}, "c": {"type": "file"}}},
    {"properties": {"d": {"type": "array", "items": False}, "e": {"type": "array", "prefixItems": [False]}}},
    {"required": ["a"], "dependencies": {"a": ["b"], "c": STRING}, "if": True, "then": {"maxProperties": 1}},
]  # fmt: skip


@pytest.mark.parametrize("format", TEXT_FORMATS)
@pytest.mark.parametrize("parameters", HOSTILE, ids=range(len(HOSTILE)))
def test_no_schema_raises_and_what_is_told_has_a_bound(format: str, parameters: dict[str, Any]) -> None:
    each = by_hand(parameters)

    assert len(FORMATS[format].describe({"x": each})) < 20_000
    assert FORMATS[format].read(FORMATS[format].write(ToolCall("x", {"a": 1}), {"x": each}), {"x": each}) is not None


def random_schema(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([True, {}, STRING, INTEGER, {"type": "null"}, {"const": 1}, {"enum": ["a", 2]}])
    drawn: dict[str, Any] = {}
    for _ in range(rng.randrange(1, 4)):
        inner = [random_schema(rng, depth - 1) for _ in range(2)]
        drawn |= rng.choice(
            [
                {
                    "type": rng.choice(
                        ["string", "integer", "array", "object", ["object", "null"], ["array", "integer"]]
                    )
                },
                {"minimum": rng.randrange(3)},
                {"maxLength": 1, "title": "T"},
                {"items": inner[0]},
                {"prefixItems": inner, "minItems": 1},
                {"properties": {"a": inner[0], "b": inner[1]}, "required": rng.choice([[], ["a"], ["b"]])},
                {"additionalProperties": rng.choice([False, inner[0]])},
                {rng.choice(["anyOf", "oneOf", "allOf"]): inner},
                {"not": inner[0]},
                {"if": inner[0], "then": inner[1]},
                {"$ref": f"#/$defs/{rng.choice('pqr')}"},
                {"contains": inner[0]},
            ]
        )
    return drawn


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(3))]
    if kind == 6:
        return {name: random_value(rng, depth - 1) for name in "abc" if rng.random() < 0.5}
    return [1, 2, "a", "long", None][kind]


def test_a_standalone_schema_takes_just_what_the_schema_took() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    rng, compared, taken = random.Random(0), 0, 0
    for _ in range(400):
        # `q` may hold itself, in an item and so without an end to it; the others cannot.
        defs = {"p": random_schema(rng, 0), "r": {"minimum": 1, "description": "D."}}
        defs["q"] = {"anyOf": [random_schema(rng, 0), {"type": "array", "items": {"$ref": "#/$defs/q"}}]}
        schema = {"properties": {"a": random_schema(rng, 3), "b": random_schema(rng, 2)}, "$defs": defs}
        copy = standalone(schema)
        before, after = (jsonschema.Draft202012Validator(each) for each in (schema, copy))
        if '"…"' in json.dumps(copy, ensure_ascii=False):
            continue
        for _ in range(20):
            value = {"a": random_value(rng, 3), "b": random_value(rng, 2)}
            assert before.is_valid(value) == after.is_valid(value), (schema, copy, value)
            compared, taken = compared + 1, taken + before.is_valid(value)

    assert compared > 7000
    assert 1000 < taken < compared - 1000
