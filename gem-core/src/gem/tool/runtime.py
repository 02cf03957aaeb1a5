"""The runtime: carries out calls of tools, many at once."""

import asyncio
import inspect
import random
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from gem.checks import check_int
from gem.errors import ConfigError, ToolError, ToolTimeout
from gem.tool.cache import Cache, key_of
from gem.tool.content import Content, check_content
from gem.tool.pool import StatePool
from gem.tool.resource import Resource
from gem.tool.session import ToolSession
from gem.tool.tool import Tool
from gem.work.lifetime import after_fork, at_exit
from gem.work.limits import Limiter
from gem.work.loops import EventLoop
from gem.work.permits import PermitFigures, permit_figures
from gem.work.threads import Outcome, Threads

MAX_CONCURRENCY = 64
"""Default limit on calls at once, of all tools together."""
CACHE_ROOM = 32 * 2**20
"""Size of the cache of pure tools: characters of results and arguments."""
PAUSE = 0.1
"""Seconds before a call is repeated; each further pause is twice as long."""
LONGEST_PAUSE = 10.0
GRACE = 5.0
"""Seconds that `close` waits for calls and states to end."""

T = TypeVar("T")


class ToolRuntime:
    """Carries out calls: from many threads and from any event loop.

    An event loop in its own thread runs everything: `async` tools in the loop, others in threads. A process shares one
    runtime (`shared_runtime()`), which ends with it. A tool that calls another one calls its function; through the
    runtime it could wait for its own permit.

    Args:
        max_concurrency: calls at once, of all tools together; a tool's own limit is `Tool.max_concurrency`.
    """

    def __init__(self, *, max_concurrency: int = MAX_CONCURRENCY) -> None:
        self._max_concurrency = check_int("max_concurrency", max_concurrency, 1)
        self._sessions: weakref.WeakSet[ToolSession] = weakref.WeakSet()
        self._loop = EventLoop("gem-tools")
        self.states = StatePool(self._run, self._loop.submit)
        """The states of resources."""
        self._threads = Threads("gem-tool")
        self._start()
        after_fork(self.forget)

    def call(self, tool: Tool, arguments: Mapping[str, Any], session: ToolSession | None = None) -> Content:
        """Call `tool`, and wait for its result.

        Args:
            tool: what to call.
            arguments: by name; checked here.
            session: the episode's states, for a tool with a resource; without one, a state is opened for this call.

        Raises:
            BadArguments: the arguments are not valid.
            ToolError: the tool could not do what it was asked.
            ToolTimeout: it has not returned in time.
            Exception: any other error of the tool: a fault.
        """
        return self._loop.call(self._call(tool, arguments, session)).get()

    def start(
        self, tool: Tool, arguments: Mapping[str, Any], session: ToolSession | None = None
    ) -> "Future[Outcome[Content]]":
        """Start a `call`; its outcome has what it returns or raises. Cancelling the future cancels the call."""
        if self._loop.is_current:
            raise RuntimeError("an async tool cannot wait for a call of its own runtime: use await, and acall")
        return self._loop.submit(self._call(tool, arguments, session))

    async def acall(self, tool: Tool, arguments: Mapping[str, Any], session: ToolSession | None = None) -> Content:
        """`call`, from a coroutine in any event loop. Cancelling it cancels the call."""
        outcome = await asyncio.wrap_future(self._loop.submit(self._call(tool, arguments, session)))
        return outcome.get()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine in the event loop of the runtime; see `EventLoop.submit`."""
        return self._loop.submit(work)

    @property
    def is_current(self) -> bool:
        """True in the thread of its event loop."""
        return self._loop.is_current

    def session(self, resources: Iterable[Resource[Any]] = ()) -> ToolSession:
        """A session for a new episode, whose `resources` with a capacity it waits for in one order.

        Raises:
            ConfigError: two resources with a capacity have the same name.
        """
        session = ToolSession(self.states, self._loop.call, self._loop.submit, resources)
        self._sessions.add(session)
        return session

    def figures(self) -> dict[str, PermitFigures]:
        """How much of each capacity is used, by the name of the resource, over all runtimes and workers of the process.

        In a worker process there are none: the process that started it has them.
        """
        return permit_figures()

    def close(self) -> None:
        """Cancel what is under way, close every state, and end the threads. Closing twice is fine."""
        self._loop.close(before=self._shut_down, timeout=2 * GRACE)
        self._threads.close()
        for session in list(self._sessions):
            session.forget()

    def forget(self) -> None:
        """Reset without closing anything: in a forked child, the present state belongs to the parent."""
        for session in list(self._sessions):
            session.forget()
        self.states.forget()
        self._start()

    def _start(self) -> None:
        self._limiter = Limiter("the runtime", self._max_concurrency)
        self._limiters: weakref.WeakKeyDictionary[Tool, Limiter] = weakref.WeakKeyDictionary()
        self._cache = Cache(CACHE_ROOM)
        self._under_way: set[asyncio.Task[Any]] = set()
        self._orphans: set[asyncio.Future[Outcome[Any]]] = set()
        # Not seeded: pauses do not affect episodes, and those of many processes should differ.
        self._jitter = random.Random()

    def _call(
        self, tool: Tool, arguments: Mapping[str, Any], session: ToolSession | None
    ) -> Coroutine[Any, Any, Outcome[Any]]:
        if session is not None and tool.resource is not None:
            session.expect_call()
        return self._carry_out(tool, arguments, session)

    async def _carry_out(self, tool: Tool, arguments: Mapping[str, Any], session: ToolSession | None) -> Outcome[Any]:
        """The outcome of a call. It raises nothing, unless it is cancelled."""
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            checked = tool.validate(arguments)
        except Exception as error:  # `BadArguments`, or a fault of the validator
            return Outcome(error=error)
        key = key_of(tool, arguments) if tool.pure else None
        kept = self._cache.get(key) if key else None
        if kept is not None:
            return Outcome(kept)
        outcome = await self._with_state(tool, checked, session)
        if key and outcome.error is None:
            self._cache.put(key, outcome.get())
        return outcome

    async def _with_state(self, tool: Tool, arguments: dict[str, Any], session: ToolSession | None) -> Outcome[Any]:
        if tool.resource is None:
            return await self._repeat(tool, partial(tool.function, **arguments))
        own = self.session() if session is None else session
        try:
            state = await own.take(tool.resource)
            outcome = await self._repeat(tool, partial(tool.function, state, **arguments))
            # After a fault the condition of the state is unknown.
            await own.put(tool.resource, sound=outcome.error is None or isinstance(outcome.error, ToolError))
            if session is None:
                await own.aclose()
        except Exception as error:
            return Outcome(error=error)
        return outcome

    async def _repeat(self, tool: Tool, function: Callable[[], Any]) -> Outcome[Any]:
        outcome = await self._attempt(tool, function)
        for repetition in range(tool.retries):
            if not isinstance(outcome.error, tool.retry_on):
                break
            pause = min(PAUSE * 2**repetition, LONGEST_PAUSE)
            await asyncio.sleep(pause * self._jitter.uniform(0.5, 1.0))
            outcome = await self._attempt(tool, function)
        return outcome

    async def _attempt(self, tool: Tool, function: Callable[[], Any]) -> Outcome[Any]:
        limiter = self._limiters.setdefault(tool, Limiter(f"the tool {tool.name!r}", tool.max_concurrency))
        try:
            # The tool's own permit first: a call that waits for it must not hold back other tools.
            async with limiter.permit() as own, self._limiter.permit() as general:
                if inspect.iscoroutinefunction(tool.function):
                    async with asyncio.timeout(tool.timeout):
                        outcome = await _attempt_async(function)
                else:
                    outcome = await self._in_thread(function, tool.timeout, own, general)
            if outcome.error is None:
                check_content(tool.name, outcome.get())
        except (ToolTimeout, TypeError) as error:
            return Outcome(error=error)
        except TimeoutError:
            late = f"the tool {tool.name!r} has not returned within {tool.timeout:g} seconds"
            return Outcome(error=ToolTimeout(late))
        return outcome

    async def _in_thread(self, function: Callable[[], Any], timeout: float | None, *permits: list[Any]) -> Outcome[Any]:
        done = asyncio.wrap_future(self._threads.submit(function))
        try:
            await asyncio.wait([done], timeout=timeout)
        finally:
            if not done.done():
                self._orphans.add(done)
                done.add_done_callback(self._orphans.discard)
                for permit in permits:
                    permit.append(done)
        if not done.done():
            raise TimeoutError
        return done.result()

    async def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a method of a resource: in this loop if it is async, else in a thread."""
        call = partial(function, *args)
        if inspect.iscoroutinefunction(function):
            outcome = await _attempt_async(call)
        else:
            outcome = await asyncio.shield(asyncio.wrap_future(self._threads.submit(call)))
        if outcome.error is not None and not isinstance(outcome.error, Exception):
            raise RuntimeError(f"{function.__qualname__} raised {type(outcome.error).__name__}") from outcome.error
        return outcome.get()

    async def _shut_down(self) -> None:
        for task in self._under_way:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                if self._under_way:
                    await asyncio.wait(self._under_way)
                await self.states.close()
        # A thread that returns after the end of the loop must not call back into it.
        for future in list(self._orphans):
            future.cancel()


async def _attempt_async(function: Callable[[], Coroutine[Any, Any, Any]]) -> Outcome[Any]:
    """The outcome of awaiting `function()`. If the call itself is cancelled, that is raised."""
    try:
        return Outcome(await function())
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Outcome(error=RuntimeError(f"it cancelled itself: {error!r}"))
    except BaseException as error:  # such as SystemExit, which would end the event loop
        return Outcome(error=error)


class EpisodeResources:
    """The states of an episode's resources, for calls after it has been played: by its rewards.

    It stays in this process. What is open is given back by `aclose`, or when this is garbage-collected.
    """

    def __init__(self, runtime: ToolRuntime, session: ToolSession) -> None:
        self._runtime, self._session = runtime, session

    async def acall(self, tool: Tool, arguments: Mapping[str, Any]) -> Content:
        """Call a tool with these states; see `ToolRuntime.acall`."""
        return await self._runtime.acall(tool, arguments, self._session)

    async def aclose(self) -> None:
        """Give back every state, from any event loop; in the runtime's own also while it is closed."""
        work = self._session.aclose()
        await (work if self._runtime.is_current else asyncio.wrap_future(self._runtime.submit(work)))

    def __reduce__(self) -> Any:
        raise ConfigError(
            "what an episode has open (keep_resources=True) cannot leave their process: use backend='thread' or 'sync'"
        )


_shared = ToolRuntime()
at_exit(_shared.close)


def shared_runtime() -> ToolRuntime:
    """The runtime that this process shares."""
    return _shared
