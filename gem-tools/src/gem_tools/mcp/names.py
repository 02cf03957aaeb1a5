"""What the tools of several servers are called where they are offered together."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mcp_types import Tool

from gem.errors import ConfigError

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


class Offer(NamedTuple):
    """A tool, as the server that has it describes it."""

    server: str
    tool: Tool


def named(listings: Mapping[str, Sequence[Tool]]) -> dict[str, Offer]:
    """Server → its tools, turned into name → tool.

    Chat APIs know letters, digits, `_` and `-` in a name and no more than 64 of them: what else MCP allows becomes
    `_`, and the end is left out. A name that several servers have gets the server's in front.

    Raises:
        ConfigError: even then two tools have one name.
    """
    every = [callable_name(tool.name) for tools in listings.values() for tool in tools]
    offers: dict[str, Offer] = {}
    for server, tools in listings.items():
        for tool in tools:
            name = callable_name(tool.name)
            if every.count(name) > 1:
                name = callable_name(f"{server}_{name}")
            if name in offers:
                raise ConfigError(
                    f"the MCP servers {offers[name].server!r} and {server!r} both offer a tool {name!r}; "
                    "give one of the servers another name"
                )
            offers[name] = Offer(server, tool)
    return offers


def callable_name(name: str) -> str:
    """`name` as chat APIs allow it.

    >>> callable_name("files/read.text")
    'files_read_text'
    """
    allowed = _OTHER.sub("_", name)
    return (allowed if allowed[:1].isalpha() else f"_{allowed}")[:_LONGEST]
