"""Names of tools when several servers offer them together."""

import itertools
import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from mcp_types import Tool

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64
_RESERVED = frozenset(("answer", "result", "think", "tool_call", "tool_response"))
"""Tags that agents use for other things: a tool of that name would be called by mistake."""


class OfferedTool(NamedTuple):
    """A tool and the server that offers it."""

    server: str
    tool: Tool


def named(listings: Mapping[str, Sequence[Tool]]) -> dict[str, OfferedTool]:
    """Server → its tools, turned into name → tool.

    Chat APIs allow letters, digits, `_` and `-` in a name, and at most 64 characters: any other character becomes `_`,
    and the rest is cut off. A name that several servers have, or that is reserved, begins with the server's name. If
    two are still the same, the later one, or the one that was changed, ends with a number. What a server lists twice
    is one tool.
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
        shared = len(servers[name]) > 1 or name in _RESERVED
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
    """`name`, with the first number that makes it unique if it is taken."""
    ends = itertools.chain([""], (f"_{number}" for number in itertools.count(2)))
    return next(free for end in ends if (free := name[: _LONGEST - len(end)] + end) not in taken)
