"""What an agent is shown of a tool's arguments: their JSON schema, compact and of bounded size."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tool_samples import now, python, search

from gem.tool import FORMATS, Tool, ToolCall, tool
from gem.tool.formats.compact_schema import compact

TEXT_FORMATS = ["tags", "fenced"]


def described(each: Tool, format: str = "tags") -> str:
    """The description of this one tool that the agent sees, after the sentence on how to call tools."""
    return FORMATS[format].describe({each.name: each}).partition("\n\n")[2]


def by_hand(parameters: dict[str, Any]) -> Tool:
    return Tool(name="x", description="X.", parameters=parameters, function=str)


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
    start: Place | None = None,
    pace: Annotated[int, Field(ge=1, le=10)] = 2,
    tree: Tree | None = None,
) -> str:
    """Plan a walk.

    Args:
        unit: of the distance.
    """
    return f"{far} {unit}, {pace}"


ARGUMENTS = {
    "far": {"type": "number", "exclusiveMinimum": 0},
    "unit": {"type": "string", "enum": ["km", "mi"], "description": "of the distance."},
    "start": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "default": None},
    "pace": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2},
    "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}], "default": None},
}
PLACE = {
    "type": "object",
    "description": "Where it is.",
    "properties": {"north": {"type": "number"}, "names": {"type": "array", "items": {"type": "string"}, "default": []}},
    "required": ["north"],
}
TREE = {"type": "object", "properties": {"left": {**ARGUMENTS["tree"]}}}


@pytest.mark.parametrize("format", FORMATS)
def test_names_types_values_defaults_and_what_is_required_are_described(format: str) -> None:
    text = FORMATS[format].describe({"walk": walk})
    line = next(line for line in text.splitlines() if '"exclusiveMinimum"' in line)
    schema = json.loads(line.removeprefix("Arguments: "))
    if format not in (*TEXT_FORMATS, "auto"):
        schema = schema["function"]["parameters"]

    assert "Plan a walk." in text
    assert schema["properties"] == ARGUMENTS
    assert schema["required"] == ["far", "unit"]
    assert schema["$defs"] == {"Place": PLACE, "Tree": TREE}


def test_a_tool_without_arguments_or_with_one_that_is_any_text_has_no_schema() -> None:
    assert described(python) == "<python>code</python>\nRun a program."
    assert described(now) == "<now></now>\nWhat time it is."
    titled = {"title": "xArguments", "properties": {"q": {"title": "Q", "type": "string"}}, "required": ["q"]}
    assert described(by_hand({**titled, "type": "object", "additionalProperties": False})) == "<x>q</x>\nX."


def test_a_tool_that_takes_text_says_how_to_give_its_other_arguments() -> None:
    top = '{"default":3,"description":"how many documents.","type":"integer"}'
    query = '{"description":"what to look for.","type":"string"}'
    assert described(search) == (
        "<search>query</search>\n"
        "Look something up.\n"
        f'Arguments: {{"properties":{{"query":{query},"top":{top}}},"required":["query"]}}\n'
        "Or, to give other arguments too:\n"
        '<search>{"query": …, "top": …}</search>'
    )
    assert described(search, "fenced").endswith('too:\n```search\n{"query": …, "top": …}\n```')


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_the_examples_are_calls_once_they_are_filled_in(format: str) -> None:
    chosen, tools = FORMATS[format], {"search": search, "walk": walk}
    text = "".join(f"{described(each, format)}\n" for each in tools.values())
    marks = ("```{}\n", "\n```") if format == "fenced" else ("<{}>", "</{}>")
    found = []
    for name in tools:
        opening, closing = (mark.format(name) for mark in marks)
        bodies = [piece.partition(closing)[0] for piece in text.split(opening)[1:]]
        found += [chosen.read(opening + body.replace("…", "1") + closing, tools) for body in bodies]

    assert found == [
        ToolCall("search", {"query": "query"}),
        ToolCall("search", {"query": 1, "top": 1}),
        ToolCall("walk", dict.fromkeys(ARGUMENTS, 1)),
    ]


STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("parameters", "example"),
    [
        ({"properties": {"a": {}, "b": False}, "required": ["c"]}, '{"a": …, "c": …}'),
        ({"$ref": "#/$defs/all", "$defs": {"all": {"properties": {"a": True}}}}, "{…}"),
        ({"properties": {f"argument{n}": STRING for n in range(1000)}}, None),
    ],
)
def test_an_example_names_the_arguments_as_far_as_there_is_room(parameters: Any, example: str | None) -> None:
    first, _, rest = described(by_hand(parameters)).partition("\n")

    if example is None:
        assert first.startswith('<x>{"argument0": …, "argument1": …, ')
        assert first.endswith("…, …}</x>")
        assert len(first) < 2100
    else:
        assert first == f"<x>{example}</x>"
    assert "\nArguments: " in rest


def test_titles_go_and_arguments_and_values_that_are_called_so_stay() -> None:
    properties = {"title": STRING, "default": {"const": {"title": "T"}}, "$id": {"enum": [{"title": "T"}]}}

    assert compact({"$schema": "…", "title": "X", "properties": properties}) == {"properties": properties}


def test_of_a_large_schema_long_texts_are_cut_before_arguments_are_left_out() -> None:
    properties = {f"a{n}": {"type": "integer", "description": f"{n} " * 200} for n in range(60)}
    shown = compact({"properties": properties, "required": list(properties)})

    assert shown["required"] == list(shown["properties"]) == list(properties)
    assert {each["type"] for each in shown["properties"].values()} == {"integer"}
    assert {len(each["description"]) for each in shown["properties"].values()} == {51}


CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5000)}
LAUGHS = {name: {"anyOf": [to_next, {**to_next, "title": "T"}]} for name, to_next in CHAIN.items()}
DEEP: Any = 1
NESTED: Any = {}
SHARED: Any = {}
for _ in range(400):
    DEEP, NESTED, SHARED = [DEEP], {"type": "array", "items": NESTED}, {"anyOf": [SHARED, SHARED]}
OWN_PART: dict[str, Any] = {"type": "object"}
OWN_PART["properties"] = {"a": OWN_PART}
HOSTILE = [
    {"$defs": LAUGHS, "properties": {"a": {"$ref": "#/$defs/d0"}}},
    {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    {"allOf": [{"$ref": "#"}, {"$ref": "#/allOf/0"}]},
    {"properties": {"a": NESTED, "b": {"default": DEEP}, "c": {"const": DEEP}, "d": {"enum": [DEEP]}}},
    {"properties": {"a": SHARED}},
    OWN_PART,
    {"properties": {f"a{n}": {"type": "integer", "description": "long " * 50} for n in range(20_000)}},
    {"properties": {"a": {"enum": [f"v{n}" for n in range(100_000)]}, "b": {"enum": ["v" * 100_000] * 50}}},
    {"properties": {"a" * 100_000: {"description": "d" * 100_000, "default": "d" * 100_000}}},
    {"properties": {"a\n": {"pattern": "p" * 100_000, "type": "string"}, '"': True}, "required": ["a\n"]},
    {"properties": {"a": True}, "required": ["a"]},
    {"properties": {"a": False}, "required": ["a"]},
    {"properties": {"a": {"required": True, "type": "string", "anyOf": {}, "enum": None, "items": 1, "$ref": 5}}},
    {"properties": {"a": {"type": []}, "b": {"anyOf": []}, "c": {"type": ("file", None)}}},
    {"required": ["a"], "dependencies": {"a": ["b"], "c": STRING}, "if": True, "then": {"maxProperties": 1}},
]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("parameters", HOSTILE, ids=range(len(HOSTILE)))
def test_no_schema_raises_or_hangs_and_what_is_told_has_a_bound(format: str, parameters: dict[str, Any]) -> None:
    tools = {"x": by_hand(parameters)}

    assert len(FORMATS[format].describe(tools)) < 20_000
    assert FORMATS[format].read(FORMATS[format].write(ToolCall("x", {"a": 1}), tools), tools) is not None
