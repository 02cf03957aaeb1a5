"""`gemx mcp-serve`."""

import click

from gem.cli.options import POSITIVE
from gem.cli.output import echo, stray_prints_to_stderr
from gem.errors import MissingExtra
from gem.packs.lookup import find_tools


@click.command("mcp-serve")
@click.argument("tools", nargs=-1, required=True, metavar="TOOL...")
@click.option("--http", is_flag=True, help="Serve by streamable HTTP; without it, one client by stdio.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; there is no authentication."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--idle",
    type=POSITIVE,
    default=1800,
    show_default=True,
    help="Seconds without a request after which an HTTP session ends.",
)
@click.option(
    "--sessions",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="How many HTTP sessions there may be at once.",
)
def mcp_serve(tools: tuple[str, ...], http: bool, host: str, port: int, idle: float, sessions: int) -> None:
    """Serve tools by MCP: names that packs offer, or "module.path:object"."""
    try:
        from gem_tools.mcp.serve import serve_http, serve_stdio
        from gem_tools.mcp.server import make_server
    except ModuleNotFoundError as error:
        raise MissingExtra(f"gemx mcp-serve needs {error.name}: pip install 'gem-tools[mcp]'") from error
    with stray_prints_to_stderr():
        server = make_server("gem-tools", [tool for name in tools for tool in find_tools(name)])
    if http:
        message = f"Serving {', '.join(tools)} at "
        serve_http(server, host, port, lambda url: echo(message + url, err=True), idle=idle, sessions=sessions)
    else:
        serve_stdio(server)
