"""Our tools as an MCP server."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import mcp_types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from gem.errors import BadArguments, ToolError, did_you_mean
from gem.tool import Tool, ToolSession, shared_runtime
from gem_tools import __version__
from gem_tools.mcp.content import to_blocks

Context = ServerRequestContext[ToolSession, Any]
_SESSION = "gem_tools.session"


def make_server(name: str, tools: Sequence[Tool], documents: Mapping[str, Tool] | None = None) -> Server[ToolSession]:
    """A server that offers `tools`.

    By stdio it has one client. By HTTP each session has its own states of the tools' resources (a notebook, a
    calendar), released when it ends. Sessions need a handshake: a client that asks by HTTP for version 2026-07-28,
    which does not have one, gets the versions that do, and falls back to them.

    A `ToolError`, and arguments that do not fit, are results that are marked as errors. A fault is a protocol error.

    Args:
        name: what the server calls itself.
        tools: what clients can call.
        documents: URI → a tool without arguments that returns what clients read there.
    """
    handlers = _Handlers(tools, documents or {})
    server = Server(
        name,
        version=__version__,
        lifespan=_one_session,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )
    server.middleware.append(_with_sessions)
    return server


class _Handlers:
    """The handlers of clients' requests."""

    def __init__(self, tools: Sequence[Tool], documents: Mapping[str, Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._documents = documents

    async def list_tools(self, context: Context, params: object) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(
            tools=[
                mcp_types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters))
                for tool in self._tools.values()
            ]
        )

    async def call_tool(self, context: Context, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            near = did_you_mean(params.name, self._tools)
            raise MCPError(mcp_types.INVALID_PARAMS, f"there is no tool {params.name!r}.{near}")
        try:
            content = await shared_runtime().acall(tool, params.arguments or {}, _session_of(context))
        except (BadArguments, ToolError) as error:
            return mcp_types.CallToolResult(content=to_blocks(str(error)), is_error=True)
        return mcp_types.CallToolResult(content=to_blocks(content))

    async def list_resources(self, context: Context, params: object) -> mcp_types.ListResourcesResult:
        return mcp_types.ListResourcesResult(
            resources=[
                mcp_types.Resource(uri=uri, name=tool.name, description=tool.description)
                for uri, tool in self._documents.items()
            ]
        )

    async def read_resource(
        self, context: Context, params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        tool = self._documents.get(params.uri)
        if tool is None:
            raise MCPError(mcp_types.INVALID_PARAMS, f"there is no resource {params.uri!r}")
        text = await shared_runtime().acall(tool, {}, _session_of(context))
        return mcp_types.ReadResourceResult(contents=[mcp_types.TextResourceContents(uri=params.uri, text=str(text))])


@asynccontextmanager
async def _one_session(server: Server[ToolSession]) -> AsyncGenerator[ToolSession]:
    session = shared_runtime().session()
    try:
        yield session
    finally:
        await asyncio.to_thread(session.close)


def _session_of(context: Context) -> ToolSession:
    """The states of this client: by stdio there is one client, by HTTP one per session of the protocol."""
    if context.request is None:
        return context.lifespan_context
    # The SDK documents `state` and `exit_stack` of a connection as the place for handlers' data, but has no public
    # access to it yet.
    connection = context.session._connection  # pyright: ignore[reportPrivateUsage]
    if _SESSION not in connection.state:
        session = connection.state[_SESSION] = shared_runtime().session()
        connection.exit_stack.push_async_callback(asyncio.to_thread, session.close)
    return connection.state[_SESSION]


async def _with_sessions(ctx: Context, call_next: CallNext) -> HandlerResult:
    if ctx.request is not None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        known = mcp_types.UnsupportedProtocolVersionErrorData(
            supported=list(HANDSHAKE_PROTOCOL_VERSIONS), requested=ctx.protocol_version
        )
        raise MCPError(
            mcp_types.UNSUPPORTED_PROTOCOL_VERSION,
            "this server keeps sessions, which this version of the protocol does not have over HTTP",
            known.model_dump(by_alias=True),
        )
    return await call_next(ctx)
