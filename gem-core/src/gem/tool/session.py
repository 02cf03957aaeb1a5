"""The states of resources that one episode uses."""

import asyncio
import contextlib
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from gem.errors import ConfigError
from gem.tool.pool import StatePool
from gem.tool.resource import Resource, capped, name_of
from gem.work.permits import Permit

Wait = Callable[[Coroutine[Any, Any, Any]], Any]
Permitted = dict[Resource[Any], Permit]


class _Held:
    """What a session holds: apart from it, so that it can be given back when the session is garbage-collected.

    Everything runs in the runtime's event loop.
    """

    def __init__(self, pool: StatePool, resources: Iterable[Resource[Any]]) -> None:
        self.pool = pool
        self.capped = capped(resources)
        self.states: dict[Resource[Any], asyncio.Task[Any]] = {}
        self.busy: Counter[Resource[Any]] = Counter()
        self.permits: asyncio.Task[Permitted] | None = None
        """Of all capped resources of the episode, asked for when the first is needed."""

    def __bool__(self) -> bool:
        return bool(self.states) or self.permits is not None

    def open(self, resource: Resource[Any]) -> "asyncio.Task[Any]":
        """The state of `resource`, which is opened if it is not."""
        if resource not in self.states:
            self.states[resource] = _started(self._opened(resource))
        return self.states[resource]

    async def _opened(self, resource: Resource[Any]) -> Any:
        permits = await self._permitted(resource) if resource.capacity is not None else {}
        return await self.pool.take(resource, permits.get(resource))

    async def _permitted(self, resource: Resource[Any]) -> Permitted:
        if self.permits is None:
            self.permits = _started(self._acquire_all(capped([*self.capped, resource])))
        asked = self.permits
        try:
            # Cancelling this call must not end the wait of others.
            permits = await asyncio.shield(asked)
        except BaseException:
            failed = asked.done() and (asked.cancelled() or asked.exception() is not None)
            if failed and self.permits is asked:
                self.permits = None  # the next call tries again
            if failed and asked.cancelled():
                raise RuntimeError(f"the episode ended while it waited for {name_of(resource)!r}") from None
            raise
        if resource not in permits:
            raise ConfigError(
                f"this session holds {', '.join(map(name_of, permits))} and asks for {name_of(resource)} too: two "
                "sessions could wait for each other. Name all resources with a capacity: runtime.session([one, other])"
            )
        return permits

    async def _acquire_all(self, resources: Iterable[Resource[Any]]) -> Permitted:
        permits: Permitted = {}
        try:
            for resource in resources:
                permits[resource] = await self.pool.acquire(resource)
        except BaseException:
            for permit in permits.values():
                self.pool.let_go(permit)
            raise
        return permits

    async def give_back(self) -> None:
        """Give back every state and permit, then raise the first fault that this caused."""
        # A cancelled call may have left its state half changed: it must not serve another episode.
        used_up = {resource for resource, calls in self.busy.items() if calls}
        items, asked = list(self.states.items()), self.permits
        self.forget()
        permits: Permitted = {}
        if asked is not None:
            asked.cancel()  # a wait that nobody needs; one that is over stays as it is
            await asyncio.wait([asked])
            permits = {} if asked.cancelled() or asked.exception() else asked.result()
        faults: list[Exception] = []
        for resource, opening in items:
            try:
                # If it could not be opened, the call that asked for it has raised that.
                await asyncio.wait([opening])
                if not opening.cancelled() and opening.exception() is None:
                    reuse, permit = resource not in used_up, permits.pop(resource, None)
                    await self.pool.give_back(resource, opening.result(), reuse=reuse, permit=permit)
            except Exception as fault:
                faults.append(fault)
        for permit in permits.values():
            self.pool.let_go(permit)
        if faults:
            raise faults[0]

    def forget(self) -> None:
        """Drop everything without giving it back."""
        self.states.clear()
        self.busy.clear()
        self.permits = None


class ToolSession:
    """The states that the tools of one episode share, opened when they are first needed. See `ToolRuntime.session`.

    A session that is garbage-collected without `close` gives them back as well. `wait` and `spawn` run a coroutine in
    the runtime's event loop; `spawn` does not wait for it. `resources` are all those with a capacity that the episode
    may need.

    Raises:
        ConfigError: two of them have the same name.
    """

    def __init__(
        self,
        pool: StatePool,
        wait: Wait,
        spawn: Callable[[Coroutine[Any, Any, Any]], Any],
        resources: Iterable[Resource[Any]] = (),
    ) -> None:
        self._pool, self._wait = pool, wait
        self._held = _Held(pool, resources)
        self._called = False
        finalizer = weakref.finalize(self, _release, self._held, spawn)
        finalizer.atexit = False  # the runtime closes everything then

    def close(self) -> None:
        """Give back every state. The session may be used again."""
        # A call that was cancelled before it began may yet open one, so this gets in line behind it.
        if self._called or self._held:
            self._called = False
            self._wait(self.aclose())

    async def aclose(self) -> None:
        """`close`, in the runtime's event loop."""
        # Cancelled in the middle, it would lose what is not given back yet.
        await asyncio.shield(_started(self._held.give_back()))

    def save(self) -> dict[Resource[Any], bytes]:
        """The open states, as bytes for `load`. Raises `SnapshotError` if a resource does not support snapshots."""
        return self._wait(self._save()) if self._held.states else {}

    def load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        """Give back what is open, and open what was saved."""
        self.close()
        if saved:
            self._wait(self._load(saved))

    def forget(self) -> None:
        """Drop every state without closing it: the runtime has closed them, or they belong to the parent of a fork."""
        self._called = False
        self._held.forget()

    def expect_call(self) -> None:
        """A call with this session is about to begin, in the runtime's event loop."""
        self._called = True

    async def take(self, resource: Resource[Any]) -> Any:
        """The state of `resource`, for a call."""
        opening = self._held.open(resource)
        try:
            # Cancelling this call must not lose the state that is being opened.
            state = await asyncio.shield(opening)
        except Exception:
            if self._held.states.get(resource) is opening:
                del self._held.states[resource]
            raise
        self._held.busy[resource] += 1
        return state

    async def put(self, resource: Resource[Any], *, sound: bool) -> None:
        """End a call that did `take`. A state that is not sound is closed, and the next call opens another."""
        self._held.busy[resource] -= 1
        opening = self._held.states.pop(resource) if not sound and resource in self._held.states else None
        if opening is not None:
            # The call has failed already; a fault in closing its state must not hide the reason.
            with contextlib.suppress(Exception):
                # The episode keeps the permit.
                await self._pool.give_back(resource, opening.result(), reuse=False)

    async def _save(self) -> dict[Resource[Any], bytes]:
        return {
            resource: await self._pool.run(resource.snapshot, await opening)
            for resource, opening in list(self._held.states.items())
        }

    async def _load(self, saved: Mapping[Resource[Any], bytes]) -> None:
        for resource, bytes_ in saved.items():
            await self._pool.run(resource.restore, await self._held.open(resource), bytes_)


def _release(held: _Held, spawn: Callable[..., Any]) -> None:
    if held:
        spawn(held.give_back())


_tasks: set["asyncio.Task[Any]"] = set()
"""An event loop has only weak references to what it runs."""


def _started(work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    task = asyncio.ensure_future(work)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: "asyncio.Task[Any]") -> None:
    _tasks.discard(task)
    # If nothing waits for it any more when it fails, asyncio would warn of an exception that was not retrieved.
    if not task.cancelled():
        task.exception()
