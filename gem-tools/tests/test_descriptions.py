"""Texts of each tool for an agent: its description and its whole schema."""

import json

import pytest

from gem.packs.lookup import find_tools
from gem.tool import FORMATS, tools_of
from gem_tools.calendar.tools import CalendarTools

OFFERED = {name: find_tools(name)[0] for name in ("bash", "calculator", "fetch", "notebook", "python", "search")}


@pytest.mark.parametrize("tool", [*OFFERED.values(), *tools_of(CalendarTools)], ids=lambda tool: tool.name)
def test_an_agent_is_shown_the_description_and_the_whole_schema_of_each_tool(tool):
    for format in ("hermes", "openai"):
        (line,) = [line for line in FORMATS[format].describe({tool.name: tool}).splitlines() if tool.name in line]
        about = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        assert json.loads(line) == {"type": "function", "function": about}
    for format in ("tags", "fenced"):
        text = FORMATS[format].describe({tool.name: tool})
        assert tool.description in text
        _, found, line = text.partition("\nArguments: ")
        if found:
            shown = {"type": "object", "additionalProperties": False} | json.loads(line.partition("\n")[0])
            assert shown == tool.parameters
            continue
        names = list(tool.parameters["properties"])
        assert [tool.parameters["properties"][name] for name in names] in ([], [{"type": "string"}])
        assert tool.text_parameter == (names[0] if names else None)
