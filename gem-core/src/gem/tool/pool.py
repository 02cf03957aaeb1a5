"""States of resources: those in use, and idle ones that the next episode takes."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from gem.tool.resource import Resource, name_of
from gem.work.permit_channel import permit_source
from gem.work.permits import Permit

Run = Callable[..., Awaitable[Any]]
"""Calls a method of a resource, in a thread or in the event loop."""
Spawn = Callable[[Coroutine[Any, Any, Any]], Any]
"""Starts a coroutine in the event loop, from any thread."""


class StatePool:
    """The states of all resources of a runtime, in whose event loop its methods run; `run` calls the resources'.

    A state of a resource with a capacity is open under a permit, from before it is opened until it is closed.
    """

    def __init__(self, run: Run, spawn: Spawn) -> None:
        self.run, self._spawn = run, spawn
        self.forget()

    def forget(self) -> None:
        """Drop every state without closing it."""
        # A resource may be made for one env alone, so it stays here only as long as it has states.
        self._idle: defaultdict[Resource[Any], list[Any]] = defaultdict(list)
        # By its id, because a state need not be hashable.
        self._used: dict[tuple[Resource[Any], int], Any] = {}
        self._permits: dict[Permit, Resource[Any]] = {}
        """Those of episodes, and those under which a state is kept."""
        self._moving = 0
        self._closed = False

    @property
    def idle(self) -> int:
        """The number of states that wait for an episode."""
        return sum(map(len, list(self._idle.values()))) + sum(len(permit.kept) for permit in list(self._permits))

    @property
    def in_use(self) -> int:
        """The number of states of episodes, with those that are being opened or given back."""
        return len(self._used) + self._moving

    async def acquire(self, resource: Resource[Any]) -> Permit:
        """A permit for a state of a resource that has a capacity. Cancelling it loses none."""
        assert resource.capacity is not None
        source = permit_source(name_of(resource), resource.capacity)
        permit = await source.acquire((id(self), resource), self._recall, resource.patience)
        self._permits[permit] = resource
        return permit

    def let_go(self, permit: Permit) -> None:
        """Give back a permit that no state is in use under."""
        if permit.kept:
            permit.source.park(permit, permit.kept[0])
        else:
            self._permits.pop(permit, None)
            permit.source.release(permit)

    async def take(self, resource: Resource[Any], permit: Permit | None = None) -> Any:
        """A state of `resource` as good as new, under a permit if it has a capacity. It raises what its methods do."""
        self._moving += 1
        try:
            kept = await self._kept(resource, permit)
            state = kept[0] if kept else await self.run(resource.open)
            if self._closed:
                await self.run(resource.close, state)
                raise RuntimeError("the tool runtime was closed meanwhile")
        finally:
            self._moving -= 1
        self._used[resource, id(state)] = state
        return state

    async def _kept(self, resource: Resource[Any], permit: Permit | None) -> list[Any]:
        """A state that was kept and is healthy, if there is one; others are closed."""
        while idle := self._idle.get(resource, []) if permit is None else permit.kept:
            state = idle.pop()
            if permit is None and not idle:
                del self._idle[resource]
            healthy = False
            try:
                healthy = await self.run(resource.healthy, state)
            finally:
                if not healthy:
                    await self.run(resource.close, state)
            if healthy:
                return [state]
        return []

    async def give_back(
        self, resource: Resource[Any], state: Any, *, reuse: bool, permit: Permit | None = None
    ) -> None:
        """Take back a state, for another episode if `reuse` and if the resource can renew it, and its permit."""
        if (resource, id(state)) not in self._used:
            return  # closed with the pool
        del self._used[resource, id(state)]
        self._moving += 1
        renewed = False
        try:
            if reuse and not self._closed:
                renewed = await self.run(resource.renew, state)
        finally:
            try:
                if not renewed or self._closed:
                    await self.run(resource.close, state)
                elif permit is None:
                    self._idle[resource].append(state)
                else:
                    permit.kept.append(state)
            finally:
                self._moving -= 1
                if permit is not None:
                    self.let_go(permit)

    def _recall(self, permit: Permit) -> None:
        """Close what is kept under a permit that somebody else needs."""
        try:
            self._spawn(self._close_kept(permit))
        except RuntimeError:  # the runtime is closed, and has closed all states
            permit.source.release(permit)

    async def _close_kept(self, permit: Permit) -> None:
        try:
            if permit.kept:
                await self.run(self._permits[permit].close, permit.kept.pop())
        finally:
            self.let_go(permit)

    async def close(self) -> None:
        """Close every state, including those in use and those being opened. A fault in that is ignored."""
        self._closed = True
        states = [(resource, state) for resource, idle in self._idle.items() for state in idle]
        states += [(resource, state) for (resource, _), state in self._used.items()]
        self._idle.clear()
        self._used.clear()
        kept = [self._close_kept(permit) for permit in list(self._permits) if permit.kept]
        closing = [self.run(resource.close, state) for resource, state in states]
        await asyncio.gather(*closing, *kept, return_exceptions=True)
        while self._moving:
            await asyncio.sleep(0.001)
        for permit in list(self._permits):
            self.let_go(permit)
