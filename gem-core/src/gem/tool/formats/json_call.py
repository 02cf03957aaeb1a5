"""Calls and tools as JSON, in the shapes that several formats share."""

import json
from collections.abc import Mapping
from typing import Any

from gem.errors import did_you_mean
from gem.tool.escaping import escape_marks
from gem.tool.formats.base import BadCall, ToolCall, malformed, unknown
from gem.tool.formats.compact_schema import compact
from gem.tool.tool import Tool


def described(tool: Tool) -> dict[str, Any]:
    """A tool as chat APIs describe one."""
    about = {"name": tool.name, "description": tool.description, "parameters": compact(tool.parameters)}
    return {"type": "function", "function": about}


def listed(tools: Mapping[str, Tool]) -> str:
    """The tools as chat APIs describe them, one a line. Marks are escaped."""
    return "\n".join(escape_marks(json.dumps(described(tool), ensure_ascii=False)) for tool in tools.values())


def read_call(call: Mapping[str, Any], tools: Mapping[str, Tool], example: str) -> ToolCall | BadCall:
    """The call in `{"name": …, "arguments": {…}}`; arguments may be a string that holds the object, as in chat APIs."""
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str):
        return malformed('it has no "name" that is a string', example)
    extra = call.keys() - {"name", "arguments"}
    if extra:
        return malformed(f"it has {escape_marks(repr(sorted(extra)[0]))} beside name and arguments", example)
    if isinstance(arguments, str):
        try:
            arguments = read_object(arguments)
        except ValueError as error:
            return malformed(f'its "arguments" are no JSON object: {error}', example)
    if not isinstance(arguments, dict):
        return malformed('its "arguments" are no object', example)
    if name not in tools:
        return unknown(name, tools, did_you_mean(name, tools))
    return ToolCall(name, arguments)  # pyright: ignore[reportUnknownArgumentType]


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`. Raises `ValueError` if it is not one, or has a key twice or half a character."""
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeEncodeError:
        raise ValueError("it has half of a surrogate pair") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is {_KINDS[type(value)]}, and not an object")
    return value  # pyright: ignore[reportUnknownVariableType]


_KINDS: Mapping[type, str] = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {escape_marks(repr(twice))} stands in it twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
