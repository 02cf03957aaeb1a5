"""States of resources: those in use, and those that wait for the next episode."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gem.tool.resource import Resource

Run = Callable[..., Awaitable[Any]]
"""Calls a method of a resource, in a thread or in the event loop."""


class Pool:
    """The states of one resource in one process. Its methods run in the runtime's event loop.

    Args:
        resource: what is pooled.
        run: calls the resource's methods.
    """

    def __init__(self, resource: Resource[Any], run: Run) -> None:
        self._resource, self._run = resource, run
        self._idle: list[Any] = []
        self._used: dict[int, Any] = {}
        self._moving = 0
        self._closed = False

    @property
    def idle(self) -> int:
        """How many states wait for an episode."""
        return len(self._idle)

    @property
    def in_use(self) -> int:
        """How many belong to episodes, those included that are being opened or given back."""
        return len(self._used) + self._moving

    async def take(self) -> Any:
        """A state as new. It raises what the resource's `open` does."""
        if self._idle:
            state = self._idle.pop()
        else:
            self._moving += 1
            try:
                state = await self._run(self._resource.open)
                if self._closed:
                    await self._run(self._resource.close, state)
                    raise RuntimeError("the tool runtime was closed meanwhile")
            finally:
                self._moving -= 1
        # Not a set: a state need not be hashable.
        self._used[id(state)] = state
        return state

    async def give_back(self, state: Any, *, reuse: bool) -> None:
        """Take back a state, for another episode if `reuse` and if the resource can renew it."""
        if id(state) not in self._used:
            return  # closed with the pool
        del self._used[id(state)]
        self._moving += 1
        renewed = False
        try:
            if reuse and not self._closed:
                renewed = await self._run(self._resource.renew, state)
        finally:
            try:
                if renewed and not self._closed:
                    self._idle.append(state)
                else:
                    await self._run(self._resource.close, state)
            finally:
                self._moving -= 1

    async def close(self) -> None:
        """Close every state, those in use and those being opened included. A fault in that is nobody's concern."""
        self._closed = True
        states = [*self._idle, *self._used.values()]
        self._idle.clear()
        self._used.clear()
        await asyncio.gather(*(self._run(self._resource.close, state) for state in states), return_exceptions=True)
        while self._moving:
            await asyncio.sleep(0.001)


class Pools:
    """A pool for each resource that has states."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._pools: dict[Resource[Any], Pool] = {}

    @property
    def in_use(self) -> int:
        """How many states belong to episodes."""
        return sum(pool.in_use for pool in list(self._pools.values()))

    @property
    def idle(self) -> int:
        """How many states wait for an episode."""
        return sum(pool.idle for pool in list(self._pools.values()))

    async def take(self, resource: Resource[Any]) -> Any:
        """A state of `resource`."""
        if resource not in self._pools:
            self._pools[resource] = Pool(resource, self.run)
        pool = self._pools[resource]
        try:
            return await pool.take()
        finally:
            self._tidy(resource, pool)

    async def give_back(self, resource: Resource[Any], state: Any, *, reuse: bool) -> None:
        """Take back what `take` gave."""
        pool = self._pools.get(resource)
        if pool is None:
            return
        try:
            await pool.give_back(state, reuse=reuse)
        finally:
            self._tidy(resource, pool)

    async def close(self) -> None:
        """Close every state of every resource."""
        await asyncio.gather(*(pool.close() for pool in list(self._pools.values())))

    def forget(self) -> None:
        """Drop every state without a word."""
        self._pools.clear()

    def _tidy(self, resource: Resource[Any], pool: Pool) -> None:
        # Resources may be made for one env each, and must not outlive it here.
        if not pool.in_use and not pool.idle:
            self._pools.pop(resource, None)
