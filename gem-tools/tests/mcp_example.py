"""An MCP server to test against, written with the SDK: by stdio, or by HTTP on the port that is its argument.

Only what the notes of a session hold depends on what was called before.
"""

import sys
import time

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("example", log_level="ERROR")
notes: dict[str, list[str]] = {}
PIXEL = bytes.fromhex("89504e470d0a1a0a")


class Point(BaseModel):
    x: int
    y: int


@server.tool()
def add(a: int, b: int) -> str:
    """Add two whole numbers."""
    return str(a + b)


@server.tool()
def note(text: str, context: Context) -> str:
    """Keep a note, and show all notes of this session."""
    request = context.request_context.request
    kept = notes.setdefault("" if request is None else request.headers.get("mcp-session-id", ""), [])
    kept.append(text)
    return " ".join(kept)


@server.tool()
def mirror(point: Point) -> Point:
    """Mirror a point."""
    return Point(x=-point.x, y=-point.y)


@server.tool(structured_output=False)
def picture() -> list[object]:
    """A picture and a word."""
    return ["a pixel", Image(data=PIXEL, format="png")]


@server.tool()
def refuse() -> str:
    """Say why not."""
    raise ToolError("not on a Sunday")


@server.tool()
def sleep(seconds: float) -> str:
    """Answer late."""
    time.sleep(seconds)
    return "awake"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
