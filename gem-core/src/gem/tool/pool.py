"""States of resources: those in use, and idle ones that the next episode takes."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from gem.tool.resource import Resource

Run = Callable[..., Awaitable[Any]]
"""Calls a method of a resource, in a thread or in the event loop."""


class StatePool:
    """The states of all resources of a runtime, in whose event loop its methods run; `run` calls the resources'."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.forget()

    def forget(self) -> None:
        """Drop every state without closing it."""
        # A resource may be made for one env alone, so it stays here only as long as it has states.
        self._idle: defaultdict[Resource[Any], list[Any]] = defaultdict(list)
        # By its id, because a state need not be hashable.
        self._used: dict[tuple[Resource[Any], int], Any] = {}
        self._moving = 0
        self._closed = False

    @property
    def idle(self) -> int:
        """The number of states that wait for an episode."""
        return sum(map(len, list(self._idle.values())))

    @property
    def in_use(self) -> int:
        """The number of states of episodes, with those that are being opened or given back."""
        return len(self._used) + self._moving

    async def take(self, resource: Resource[Any]) -> Any:
        """A state of `resource` as good as new. It raises what the resource's `open` does."""
        if resource in self._idle:
            state = self._idle[resource].pop()
            if not self._idle[resource]:
                del self._idle[resource]
        else:
            self._moving += 1
            try:
                state = await self.run(resource.open)
                if self._closed:
                    await self.run(resource.close, state)
                    raise RuntimeError("the tool runtime was closed meanwhile")
            finally:
                self._moving -= 1
        self._used[resource, id(state)] = state
        return state

    async def give_back(self, resource: Resource[Any], state: Any, *, reuse: bool) -> None:
        """Take back a state, for another episode if `reuse` and if the resource can renew it."""
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
                if renewed and not self._closed:
                    self._idle[resource].append(state)
                else:
                    await self.run(resource.close, state)
            finally:
                self._moving -= 1

    async def close(self) -> None:
        """Close every state, including those in use and those being opened. A fault in that is ignored."""
        self._closed = True
        states = [(resource, state) for resource, idle in self._idle.items() for state in idle]
        states += [(resource, state) for (resource, _), state in self._used.items()]
        self._idle.clear()
        self._used.clear()
        await asyncio.gather(*(self.run(resource.close, state) for resource, state in states), return_exceptions=True)
        while self._moving:
            await asyncio.sleep(0.001)
