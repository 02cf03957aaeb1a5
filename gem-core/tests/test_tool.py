"""`@tool`: from a typed function to a name, a description, a schema and checked calls."""

import enum
import pickle
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
import tool_samples
from pydantic import BaseModel, Field
from tool_samples import note, notes, python, search

import gem.tool.tool
from gem.errors import BadArguments
from gem.packs.lookup import find_tools
from gem.tool import Tool, tool


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: float
    y: float = 0.0


@tool
def everything(
    text: str,
    number: float,
    flag: bool,
    many: list[int],
    table: dict[str, int],
    choice: Literal["a", "b"],
    colour: Colour,
    point: Point,
    bounded: Annotated[int, Field(ge=1, le=9, description="from one to nine")],
    perhaps: str | None = None,
    *,
    json: int = 3,
    copy: int = 4,
    model_config: str = "m",
) -> str:
    """Take everything.

    A second paragraph
    of two lines.

    Args:
        text: the text,
            which continues here.
        number (float): how much.
        *many: several.

    Returns:
        nothing of interest.

    Raises:
        ToolError: never.
    """
    return repr((text, number, flag, many, table, choice, colour, point, bounded, perhaps, json, copy, model_config))


GIVEN = {
    "text": "t",
    "number": "1.5",
    "flag": True,
    "many": [1, 2],
    "table": {"a": 1},
    "choice": "b",
    "colour": "blue",
    "point": {"x": 1},
    "bounded": 9,
}


def test_the_name_the_description_and_the_schema_come_from_the_function() -> None:
    assert everything.name == "everything"
    assert everything.description == "Take everything.\n\nA second paragraph\nof two lines."
    properties = everything.parameters["properties"]
    assert list(properties) == [*GIVEN, "perhaps", "json", "copy", "model_config"]
    assert everything.parameters["required"] == list(GIVEN)
    assert everything.parameters["additionalProperties"] is False
    assert properties["text"] == {"type": "string", "description": "the text, which continues here."}
    assert properties["number"] == {"type": "number", "description": "how much."}
    assert properties["many"] == {"type": "array", "items": {"type": "integer"}, "description": "several."}
    assert properties["choice"] == {"enum": ["a", "b"], "type": "string"}
    assert properties["bounded"] == {"type": "integer", "minimum": 1, "maximum": 9, "description": "from one to nine"}
    assert properties["json"] == {"type": "integer", "default": 3}
    assert everything.parameters["$defs"]["Colour"]["enum"] == ["red", "blue"]


def test_arguments_are_checked_and_come_as_the_function_takes_them() -> None:
    checked = everything.validate(GIVEN)

    assert checked["number"] == 1.5
    assert checked["colour"] is Colour.BLUE
    assert checked["point"] == Point(x=1)
    assert "json" not in checked  # the function's own default is in force
    assert "Colour.BLUE" in str(everything(**checked))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"number": "much"}, "the argument 'number': input should be a valid number"),
        ({"many": [1, "x"]}, "the argument 'many.1': input should be a valid integer"),
        ({"choice": "c"}, "the argument 'choice': input should be 'a' or 'b'"),
        ({"colour": "green"}, "the argument 'colour': input should be 'red' or 'blue'"),
        ({"point": {"y": 1}}, "the argument 'point.x' is missing"),
        ({"bounded": 10}, "the argument 'bounded': input should be less than or equal to 9"),
        ({"texts": "t"}, "there is no argument 'texts'. Did you mean 'text'?"),
        ({"argument_0": "t"}, "there is no argument 'argument_0'"),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}, "and 2 more"),
    ],
)
def test_arguments_that_do_not_fit_are_named(change: Mapping[str, Any], words: str) -> None:
    with pytest.raises(BadArguments) as caught:
        everything.validate({**GIVEN, **change})
    assert words in str(caught.value)


def test_a_decorated_function_is_called_as_before() -> None:
    assert python("1") == python(code="1") == "ran 1"


def test_settings_override_what_the_function_says() -> None:
    @tool(name="find-it", description="Find it.", pure=True, timeout=2, max_concurrency=3, retries=4)
    def find(what: str) -> str:
        return what

    settings = (find.name, find.description, find.pure, find.timeout, find.max_concurrency, find.retries)
    assert settings == ("find-it", "Find it.", True, 2, 3, 4)


def test_the_agent_does_not_see_the_argument_for_the_state_of_a_resource() -> None:
    assert note.resource is notes
    assert list(note.parameters["properties"]) == ["text"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, "a"),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}, "a"),
        ({"properties": {"a": {"type": "string"}}}, "a"),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}, None),
        ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, None),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}, None),
        ({"properties": {}}, None),
        ({}, None),
    ],
)
def test_plain_text_is_the_value_of_the_one_required_string(parameters: dict[str, Any], expected: str | None) -> None:
    made = Tool(name="x", description="X.", parameters=parameters, function=str)

    assert made.text_parameter == expected


def test_a_tool_of_a_module_is_pickled_by_its_name_and_another_by_its_parts() -> None:
    by_hand = Tool(name="x", description="X.", parameters={}, function=tool_samples.Listener)

    assert pickle.loads(pickle.dumps(python)) is python
    assert pickle.loads(pickle.dumps(by_hand)).function is tool_samples.Listener


def test_a_function_that_returns_a_tool_is_called_with_the_settings() -> None:
    assert find_tools("tool_samples:search")[0] is search
    assert find_tools("tool_samples:greeter")[0].function() == "hello"
    assert find_tools("tool_samples:greeter", word="bye")[0].function() == "bye"


def test_a_name_can_mean_several_tools() -> None:
    assert [each.name for each in find_tools("tool_samples:pair")] == ["first", "second"]
    assert [each.name for each in find_tools("tool_samples:pair", last="third")] == ["first", "third"]


def test_the_package_exports_the_decorator_not_the_module_of_the_same_name() -> None:
    assert gem.tool.tool is tool
    assert gem.Tool is Tool
