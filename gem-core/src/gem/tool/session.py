"""The states that one episode holds."""

import asyncio
import contextlib
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from gem.tool.pool import Pools
from gem.tool.resource import Resource

Held = dict[Resource[Any], "asyncio.Task[Any]"]
Wait = Callable[[Coroutine[Any, Any, Any]], Any]


class ToolSession:
    """The states that the tools of one episode share, opened as they are needed. `ToolRuntime.session` makes one.

    A session that is dropped without `close` gives them back as well.

    Args:
        pools: where states come from.
        wait: runs a coroutine in the runtime's event loop, and waits for it.
        spawn: runs one there, and does not wait.
    """

    def __init__(self, pools: Pools, wait: Wait, spawn: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._pools, self._wait = pools, wait
        self._held: Held = {}
        self._busy: Counter[Resource[Any]] = Counter()
        finalizer = weakref.finalize(self, _let_go, pools, self._held, self._busy, spawn)
        finalizer.atexit = False  # the runtime closes everything then

    def close(self) -> None:
        """Give back every state. The session may be used again."""
        if self._held:
            self._wait(self.aclose())

    async def aclose(self) -> None:
        """`close`, in the runtime's event loop."""
        await _give_back(self._pools, self._held, self._busy)

    def save(self) -> dict[Resource[Any], bytes]:
        """Each state that is open, as bytes for `load`.

        Raises:
            SnapshotError: a resource takes no snapshots.
        """
        return self._wait(self._save()) if self._held else {}

    def load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        """Give back what is open, and open what was saved."""
        self.close()
        if saved:
            self._wait(self._load(saved))

    def forget(self) -> None:
        """Drop every state without a word: the runtime has closed them, or, after a fork, they are the parent's."""
        self._held.clear()
        self._busy.clear()

    async def take(self, resource: Resource[Any]) -> Any:
        """The state of `resource`, for a call."""
        if resource not in self._held:
            self._held[resource] = asyncio.ensure_future(self._pools.take(resource))
            # Whoever waits for it may be gone when it fails; asyncio would complain that nobody looked.
            self._held[resource].add_done_callback(lambda task: task.cancelled() or task.exception())
        opening = self._held[resource]
        try:
            # Cancelling this call must not lose a state that is being opened.
            state = await asyncio.shield(opening)
        except Exception:
            if self._held.get(resource) is opening:
                del self._held[resource]
            raise
        self._busy[resource] += 1
        return state

    async def put(self, resource: Resource[Any], *, sound: bool) -> None:
        """The end of a call that did `take`. A state that is not sound is closed, and the next call opens another."""
        self._busy[resource] -= 1
        opening = self._held.pop(resource) if not sound and resource in self._held else None
        if opening is not None:
            # The call has failed already; a fault in closing what it left must not hide why.
            with contextlib.suppress(Exception):
                await self._pools.give_back(resource, opening.result(), reuse=False)

    async def _save(self) -> dict[Resource[Any], bytes]:
        return {
            resource: await self._pools.run(resource.snapshot, await opening)
            for resource, opening in list(self._held.items())
        }

    async def _load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        for resource, bytes_ in saved.items():
            self._held[resource] = asyncio.ensure_future(self._pools.take(resource))
            state = await self._held[resource]
            await self._pools.run(resource.restore, state, bytes_)


def _let_go(pools: Pools, held: Held, busy: Counter[Resource[Any]], spawn: Callable[..., Any]) -> None:
    if held:
        spawn(_give_back(pools, held, busy))


async def _give_back(pools: Pools, held: Held, busy: Counter[Resource[Any]]) -> None:
    """Give back every state, and then raise the first fault there was."""
    # What a call that was cancelled left half done is not for another episode.
    used_up = {resource for resource, calls in busy.items() if calls}
    items = list(held.items())
    held.clear()
    busy.clear()
    faults: list[Exception] = []
    for resource, opening in items:
        try:
            # One that could not be opened was reported to the call that asked for it.
            await asyncio.wait([opening])
            if opening.exception() is None:
                await pools.give_back(resource, opening.result(), reuse=resource not in used_up)
        except Exception as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
