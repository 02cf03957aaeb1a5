"""What the tools of several servers are called where they are offered together."""

import itertools
import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from mcp_types import Tool

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64
_TAKEN = frozenset(("answer", "result", "think", "tool_call", "tool_response"))
"""What agents write around other things than calls: a tool of that name would hear what was not meant for it."""


class OfferedTool(NamedTuple):
    """A tool, as the server that has it describes it."""

    server: str
    tool: Tool


def named(listings: Mapping[str, Sequence[Tool]]) -> dict[str, OfferedTool]:
    """Server → its tools, turned into name → tool.

    Chat APIs know letters, digits, `_` and `-` in a name and no more than 64 of them: what else MCP allows becomes
    `_`, and the end is left out. A name that several servers have, or that means
    something else in a reply, gets the server's in front. Where two are still the
    same, the later one, or the one that was changed, gets a number at its end. What a server lists twice is one tool.
    """
    offers = [
        OfferedTool(server, tool) for server, tools in listings.items() for tool in {t.name: t for t in tools}.values()
    ]
    servers: dict[str, set[str]] = {}
    for offer in offers:
        servers.setdefault(callable_name(offer.tool.name), set()).add(offer.server)
    wanted: list[tuple[str, OfferedTool]] = []
    for offer in offers:
        name = callable_name(offer.tool.name)
        shared = len(servers[name]) > 1 or name in _TAKEN
        wanted.append((callable_name(f"{offer.server}_{name}") if shared else name, offer))
    found: dict[str, OfferedTool] = {}
    # Sorting keeps the order among those whose name stays, which come first, and among the others.
    for name, offer in sorted(wanted, key=lambda each: each[0] != each[1].tool.name):
        found[_free(name, found)] = offer
    return found


def callable_name(name: str) -> str:
    """`name` as chat APIs allow it.

    >>> callable_name("files/read.text")
    'files_read_text'
    """
    allowed = _OTHER.sub("_", name)
    return (allowed if allowed[:1].isalpha() else f"_{allowed}")[:_LONGEST]


def _free(name: str, taken: Container[str]) -> str:
    """`name`, or with the first number that makes it new."""
    ends = itertools.chain([""], (f"_{number}" for number in itertools.count(2)))
    return next(free for end in ends if (free := name[: _LONGEST - len(end)] + end) not in taken)
