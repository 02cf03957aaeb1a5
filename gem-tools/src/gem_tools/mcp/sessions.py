"""Conversations with several MCP servers, and whose they are."""

import copy
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

from anyio.from_thread import BlockingPortalProvider
from mcp_types import CallToolResult, Tool

from gem.errors import SnapshotError
from gem.tool.resource import Resource
from gem_tools.mcp.config import ServerConfig, digest
from gem_tools.mcp.session import McpSession

_loop = BlockingPortalProvider()
"""One event loop, in one thread, for all sessions of this process; it is there while any of them is open."""


class McpSettings(NamedTuple):
    """Name → server; seconds in which one must be started or reached, and must answer a request."""

    servers: Mapping[str, ServerConfig]
    ready: float
    answer: float


class McpSessions:
    """A conversation with each of the servers, begun with the first call to it and kept until `close`."""

    def __init__(self, settings: McpSettings) -> None:
        self._lease = ExitStack()
        self._portal = self._lease.enter_context(_loop)
        self._sessions = {
            name: McpSession(name, server, ready=settings.ready, answer=settings.answer)
            for name, server in settings.servers.items()
        }

    def tools(self) -> dict[str, Sequence[Tool]]:
        """Server → what it offers, all asked at once. It raises what `McpSession.tools` does."""
        asked = {name: self._portal.start_task_soon(session.tools) for name, session in self._sessions.items()}
        wait(asked.values())
        return {name: answer.result() for name, answer in asked.items()}

    async def call(self, server: str, tool: str, arguments: dict[str, object]) -> CallToolResult:
        """Call a tool, from any event loop but the sessions' own. It raises what `McpSession.call` does."""
        return await self._portal.call_async(self._sessions[server].call, tool, arguments)

    def close(self) -> None:
        """End all conversations, and the servers' processes. Closing twice is fine."""
        with self._lease.pop_all():
            closing: list[Future[None]] = [self._portal.start_task_soon(each.close) for each in self._sessions.values()]
            for closed in closing:
                closed.result()
            self._sessions.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EpisodeSessions(Resource[McpSessions]):
    """Conversations of the episode's own: a server's program is started for it alone, and ended with it."""

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
    """One conversation with each server for all episodes of this process, for servers that keep no state.

    It is begun by the first who opens it, and ended when the last has closed it; a runtime closes what it has opened
    when it is closed itself. A snapshot of it is empty.
    """

    def open(self) -> McpSessions:
        with _lock:
            sessions, users = _shared.get(self._key) or (McpSessions(self.settings), 0)
            _shared[self._key] = sessions, users + 1
        # An object for each user, on the same sessions: a pool tells states apart by identity.
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
        'servers. For servers that keep no state, say sessions="shared": then there is nothing to save'
    )


_lock = threading.Lock()
_shared: dict[tuple[Any, ...], tuple[McpSessions, int]] = {}
"""By what the settings say: the sessions, and how many use them."""


def _after_fork() -> None:
    """Begin as new: the threads and the sessions are the parent's."""
    global _loop, _lock
    _loop, _lock = BlockingPortalProvider(), threading.Lock()
    _shared.clear()


os.register_at_fork(after_in_child=_after_fork)
