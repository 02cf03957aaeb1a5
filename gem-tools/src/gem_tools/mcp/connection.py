"""One connection to one server, from the handshake to its end."""

import asyncio

import anyio
from mcp import Client, Implementation, MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from gem_tools import __version__
from gem_tools.mcp.config import ServerConfig
from gem_tools.mcp.errors import McpServerError, McpServerUnreachable
from gem_tools.mcp.transport import Tail, is_unreachable, transport

_NO_ANSWER = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})


class Connection:
    """An SDK client in a task of its own, because its contexts must be left by the task that entered them.

    Versions with a handshake are tried before the newest one (2026-07-28), which does not have sessions over HTTP: a
    server could not tell one episode's calls from another's.
    """

    def __init__(self, name: str, server: ServerConfig) -> None:
        self.calls = 0
        """Calls under way, counted by the caller."""
        self._name, self._server = name, server
        self._stderr = Tail()
        self._scope = anyio.CancelScope()
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._client: Client | None = None
        self.failure: Exception | None = None
        """Error that ended it, if it was not `close`."""
        self._task: asyncio.Task[None] | None = None

    @property
    def client(self) -> Client:
        """The SDK's client, once `open` has returned."""
        assert self._client is not None
        return self._client

    async def open(self, timeout: float) -> None:
        """Start or reach the server, and shake hands.

        Raises:
            McpServerUnreachable: there is no server at its address.
            McpServerError: that failed, or took more than `timeout` seconds.
        """
        self._task = asyncio.create_task(self._run())
        try:
            with anyio.fail_after(timeout):
                await self._ready.wait()
        except TimeoutError:
            await self.close()
            raise self.fault(f"was not ready within {timeout:g} s") from None
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._client is None:
            await self.close()
            kind = McpServerUnreachable if is_unreachable(self.failure) else McpServerError
            raise self.fault(f"could not be {self._server.begun}{cause_of(self.failure)}", kind) from self.failure

    async def close(self) -> None:
        """Disconnect, and wait until the server's process, if we started it, has ended. Closing twice is fine."""
        self._leave.set()
        if not self._ready.is_set():
            self._scope.cancel()
        if self._task is not None:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([self._task])

    def fault(self, what: str, kind: type[McpServerError] = McpServerError) -> McpServerError:
        """The fault to raise; `what` continues a sentence that begins with "the MCP server …"."""
        return kind(what, server=self._name, where=self._server.where, stderr=self._stderr.text)

    async def _run(self) -> None:
        try:
            with self._scope:
                for mode in ("legacy", "auto"):
                    try:
                        await self._keep_open(mode)
                    except Exception as error:
                        self.failure = _innermost(error)
                    # Refused by an answer: perhaps the server knows only the newest protocol.
                    refused = isinstance(self.failure, MCPError) and self.failure.code not in _NO_ANSWER
                    if self._ready.is_set() or not refused:
                        break
        finally:
            self._ready.set()

    async def _keep_open(self, mode: str) -> None:
        about = Implementation(name="gem-tools", version=__version__)
        async with Client(transport(self._server, self._stderr), mode=mode, client_info=about) as client:
            self._client = client
            self._ready.set()
            await self._leave.wait()


def cause_of(error: Exception | None) -> str:
    """The end of a sentence that names a cause."""
    if error is None:
        return ""
    cause = _innermost(error)
    return f": {str(cause) or type(cause).__name__}"


def _innermost(error: Exception) -> Exception:
    """The first exception inside groups: the task groups of the SDK wrap it once more, perhaps with its siblings."""
    match error:
        case ExceptionGroup(exceptions=(Exception() as first, *_)):
            return _innermost(first)
        case _:
            return error
