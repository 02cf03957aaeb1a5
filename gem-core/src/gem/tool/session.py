"""The states of resources that one episode uses."""

import asyncio
import contextlib
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from gem.tool.pool import StatePool
from gem.tool.resource import Resource

Held = dict[Resource[Any], "asyncio.Task[Any]"]
Wait = Callable[[Coroutine[Any, Any, Any]], Any]


class ToolSession:
    """The states that the tools of one episode share, opened when they are first needed. See `ToolRuntime.session`.

    A session that is garbage-collected without `close` gives them back as well. `wait` and `spawn` run a coroutine in
    the runtime's event loop; `spawn` does not wait for it.
    """

    def __init__(self, pool: StatePool, wait: Wait, spawn: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._pool, self._wait = pool, wait
        self._held: Held = {}
        self._busy: Counter[Resource[Any]] = Counter()
        finalizer = weakref.finalize(self, _release, pool, self._held, self._busy, spawn)
        finalizer.atexit = False  # the runtime closes everything then

    def close(self) -> None:
        """Give back every state. The session may be used again."""
        if self._held:
            self._wait(self.aclose())

    async def aclose(self) -> None:
        """`close`, in the runtime's event loop."""
        await _give_back(self._pool, self._held, self._busy)

    def save(self) -> dict[Resource[Any], bytes]:
        """The open states, as bytes for `load`. Raises `SnapshotError` if a resource does not support snapshots."""
        return self._wait(self._save()) if self._held else {}

    def load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        """Give back what is open, and open what was saved."""
        self.close()
        if saved:
            self._wait(self._load(saved))

    def forget(self) -> None:
        """Drop every state without closing it: the runtime has closed them, or they belong to the parent of a fork."""
        self._held.clear()
        self._busy.clear()

    async def take(self, resource: Resource[Any]) -> Any:
        """The state of `resource`, for a call."""
        if resource not in self._held:
            self._held[resource] = asyncio.ensure_future(self._pool.take(resource))
            # If nothing waits for it any more when it fails, asyncio would warn of an exception that was not retrieved.
            self._held[resource].add_done_callback(lambda task: task.cancelled() or task.exception())
        opening = self._held[resource]
        try:
            # Cancelling this call must not lose the state that is being opened.
            state = await asyncio.shield(opening)
        except Exception:
            if self._held.get(resource) is opening:
                del self._held[resource]
            raise
        self._busy[resource] += 1
        return state

    async def put(self, resource: Resource[Any], *, sound: bool) -> None:
        """End a call that did `take`. A state that is not sound is closed, and the next call opens another."""
        self._busy[resource] -= 1
        opening = self._held.pop(resource) if not sound and resource in self._held else None
        if opening is not None:
            # The call has failed already; a fault in closing its state must not hide the reason.
            with contextlib.suppress(Exception):
                await self._pool.give_back(resource, opening.result(), reuse=False)

    async def _save(self) -> dict[Resource[Any], bytes]:
        return {
            resource: await self._pool.run(resource.snapshot, await opening)
            for resource, opening in list(self._held.items())
        }

    async def _load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        for resource, bytes_ in saved.items():
            self._held[resource] = asyncio.ensure_future(self._pool.take(resource))
            state = await self._held[resource]
            await self._pool.run(resource.restore, state, bytes_)


def _release(pool: StatePool, held: Held, busy: Counter[Resource[Any]], spawn: Callable[..., Any]) -> None:
    if held:
        spawn(_give_back(pool, held, busy))


async def _give_back(pool: StatePool, held: Held, busy: Counter[Resource[Any]]) -> None:
    """Give back every state, then raise the first fault that this caused."""
    # A cancelled call may have left its state half changed: it must not serve another episode.
    used_up = {resource for resource, calls in busy.items() if calls}
    items = list(held.items())
    held.clear()
    busy.clear()
    faults: list[Exception] = []
    for resource, opening in items:
        try:
            # If it could not be opened, the call that asked for it has raised that.
            await asyncio.wait([opening])
            if opening.exception() is None:
                await pool.give_back(resource, opening.result(), reuse=resource not in used_up)
        except Exception as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
