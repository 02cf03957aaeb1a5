"""Sessions with several MCP servers, per episode or shared by a process."""

import asyncio
import copy
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any, NamedTuple

from mcp_types import CallToolResult, Tool

from gem.errors import SnapshotError
from gem.tool.resource import Resource
from gem.work.lifetime import after_fork, hold_during_fork
from gem.work.loops import shared_loop
from gem_tools.mcp.config import ServerConfig, digest
from gem_tools.mcp.session import McpSession


class McpSettings(NamedTuple):
    """Name → server; seconds to start or reach a server, and to answer a request."""

    servers: Mapping[str, ServerConfig]
    ready: float
    answer: float


class McpSessions:
    """A session with each of the servers, opened by the first call to it and kept until `close`."""

    def __init__(self, settings: McpSettings) -> None:
        self._sessions = {
            name: McpSession(name, server, ready=settings.ready, answer=settings.answer)
            for name, server in settings.servers.items()
        }

    def tools(self) -> dict[str, Sequence[Tool]]:
        """Server → its tools, all requested at once. It raises what `McpSession.tools` does."""
        asked = {name: shared_loop.submit(session.tools()) for name, session in self._sessions.items()}
        wait(asked.values())
        return {name: answer.result() for name, answer in asked.items()}

    async def call(self, server: str, tool: str, arguments: dict[str, object]) -> CallToolResult:
        """Call a tool, from any event loop but the sessions' own. It raises what `McpSession.call` does."""
        return await asyncio.wrap_future(shared_loop.submit(self._sessions[server].call(tool, arguments)))

    def close(self) -> None:
        """End all sessions, and the servers' processes. Closing twice is fine."""
        closing = [shared_loop.submit(each.close()) for each in self._sessions.values()]
        for closed in closing:
            closed.result()
        self._sessions.clear()


class EpisodeSessions(Resource[McpSessions]):
    """Sessions of one episode: a server's program is started for it, and ended with it."""

    def __init__(self, settings: McpSettings) -> None:
        self.settings = settings

    def open(self) -> McpSessions:
        return McpSessions(self.settings)

    def close(self, state: McpSessions) -> None:
        state.close()

    def snapshot(self, state: McpSessions) -> bytes:
        raise _no_snapshot()

    def restore(self, state: McpSessions, saved: bytes) -> None:
        raise _no_snapshot()


class SharedSessions(EpisodeSessions):
    """One session with each server for all episodes of this process, for servers without state.

    The first `open` begins it and the last `close` ends it; a runtime that is closed closes what it has opened. A
    snapshot of it is empty.
    """

    def open(self) -> McpSessions:
        with _lock:
            sessions, users = _shared.get(self._key) or (McpSessions(self.settings), 0)
            _shared[self._key] = sessions, users + 1
        # One object per user on the same sessions, because a pool tells states apart by identity.
        return copy.copy(sessions)

    def close(self, state: McpSessions) -> None:
        with _lock:
            sessions, users = _shared.pop(self._key)
            if users > 1:
                _shared[self._key] = sessions, users - 1
                return
        sessions.close()

    def renew(self, state: McpSessions) -> bool:
        return True

    def snapshot(self, state: McpSessions) -> bytes:
        return b""

    def restore(self, state: McpSessions, saved: bytes) -> None:
        pass

    @property
    def _key(self) -> tuple[Any, ...]:
        servers, *limits = self.settings
        return (*((name, digest(server)) for name, server in servers.items()), *limits)


def _no_snapshot() -> SnapshotError:
    return SnapshotError(
        "an episode that uses MCP servers cannot be saved or forked once it has called one: its state lives in the "
        'servers. For servers without state, use sessions="shared": then there is nothing to save'
    )


_lock = threading.RLock()
hold_during_fork(_lock)
_shared: dict[tuple[Any, ...], tuple[McpSessions, int]] = {}
"""Sessions by their settings, with the number of their users."""
after_fork(_shared.clear)  # they are the parent's
