"""A plain function as a policy: many calls at once, in threads, or on an event loop where it is async."""

import asyncio
import functools
import inspect
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from queue import SimpleQueue
from typing import Any

from gem.checks import check_int
from gem.errors import PolicyError
from gem.failure import Failure, failure_of
from gem.rollout.policy import Policy
from gem.rollout.transcript import Completion, Transcript
from gem.vector.queues import drain

MAX_AT_ONCE = 256
"""Calls under way at once, unless told otherwise."""

PARAMETERS: Mapping[str, Callable[[Transcript], Any]] = {
    "observation": lambda transcript: transcript.observation,
    "messages": Transcript.messages,
    "transcript": lambda transcript: transcript,
    "info": lambda transcript: transcript.info,
    "stop": lambda transcript: transcript.info.get("stop", []),
}
"""The parameters that a function may have, and what they are given."""

Reply = Completion | Failure


class FunctionPolicy(Policy):
    """Asks a function for each reply; what it raises fails that one episode.

    The function takes what it needs by the names of its parameters: `observation` (what the env said last),
    `messages` (the conversation as chat messages), `transcript` (all of it, a `gem.Transcript`), `info` (of the last
    step) and `stop` (the texts at which a reply may stop). A single parameter of another name is given the transcript,
    or the observation where it is annotated `str`. It returns the text of the reply, or a `Completion`.

    Calls run at once, so that a function may wait for a server: in threads, or, if it is async, on one event loop. One
    that cannot be called from several threads needs `at_once=1`.

    Args:
        function: the function.
        at_once: calls under way at once.

    Raises:
        PolicyError: it is not a function, or has other parameters.
    """

    def __init__(self, function: Callable[..., Any], *, at_once: int = MAX_AT_ONCE) -> None:
        check_int("at_once", at_once, 1)
        if not callable(function):
            raise PolicyError(f"a policy is a gem.Policy or a function that answers, not {function!r:.80}")
        call = _of_transcript(function)
        self._answered: SimpleQueue[tuple[object, Reply]] = SimpleQueue()
        self._slots: dict[object, int] = {}
        """Request → its slot, for those under way. One that was forgotten is not here any more."""
        self._requests: dict[int, object] = {}
        runner = _EventLoopRunner if _is_async(function) else _ThreadRunner
        self._runner = runner(call, at_once, self._slots, self._answered)

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        for slot, transcript in transcripts.items():
            request = object()
            self._requests[slot] = request
            self._slots[request] = slot
            self._runner.start(request, transcript)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Reply]:
        wanted = min(min_results, len(self._slots))
        until = None if timeout is None else time.monotonic() + timeout
        ready: dict[int, Reply] = {}
        while self._slots:
            wait = None if until is None else max(0.0, until - time.monotonic())
            for request, reply in drain(self._answered, wait if len(ready) < wanted else 0):
                slot = self._slots.pop(request, None)
                if slot is not None:
                    del self._requests[slot]
                    ready[slot] = reply
            if len(ready) >= wanted or (until is not None and time.monotonic() >= until):
                break
        return ready

    def forget(self, slot: int) -> None:
        self._slots.pop(self._requests.pop(slot, None), None)

    def close(self) -> None:
        self._slots.clear()
        self._requests.clear()
        self._runner.close()


class _Runner(ABC):
    """Makes the calls: `at_once` at the same time, of the requests that are still `wanted`."""

    _at_once: int

    def __init__(
        self,
        call: Callable[[Transcript], Any],
        at_once: int,
        wanted: Mapping[object, int],
        answered: SimpleQueue[tuple[object, Reply]],
    ) -> None:
        self._call, self._at_once, self._wanted, self._answered = call, at_once, wanted, answered
        self._open()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def start(self, request: object, transcript: Transcript) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class _ThreadRunner(_Runner):
    """Daemon threads, as many as there are calls: one that hangs must not hold the program at its end."""

    def _open(self) -> None:
        self._asked: SimpleQueue[tuple[object, Transcript] | None] = SimpleQueue()
        self._threads: int = 0
        self._lock = threading.Lock()
        self._idle = 0
        """Threads that no call waits for: below 0, it is calls that wait for a thread."""

    def start(self, request: object, transcript: Transcript) -> None:
        self._asked.put((request, transcript))
        with self._lock:
            self._idle -= 1
            if self._idle >= 0 or self._threads == self._at_once:
                return
            self._idle += 1
        try:
            threading.Thread(target=self._work, name="gem-policy", daemon=True).start()
        except RuntimeError:  # the operating system gives no more: those there are share the calls
            if not self._threads:
                raise
            self._at_once = self._threads
            with self._lock:
                self._idle -= 1
        else:
            self._threads += 1

    def close(self) -> None:
        for _ in range(self._threads):
            self._asked.put(None)
        self._threads = 0

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            request, transcript = asked
            reply = _reply(functools.partial(self._call, transcript)) if request in self._wanted else None
            with self._lock:
                self._idle += 1
            if reply is not None:
                self._answered.put((request, reply))
            del asked, request, transcript, reply  # or it would keep them alive while it waits


class _EventLoopRunner(_Runner):
    """One event loop in a thread of its own, so that what belongs to a loop, such as a client, is used on one."""

    def _open(self) -> None:
        self._semaphore = asyncio.Semaphore(self._at_once)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gem-policy", daemon=True)
        self._thread.start()

    def start(self, request: object, transcript: Transcript) -> None:
        asyncio.run_coroutine_threadsafe(self._answer(request, transcript), self._loop)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(1)

    def _run(self) -> None:
        self._loop.run_forever()
        # What is under way is cancelled, and has a moment for its own end.
        under_way = asyncio.all_tasks(self._loop)
        for task in under_way:
            task.cancel()
        if under_way:
            self._loop.run_until_complete(asyncio.wait(under_way, timeout=0.5))
        self._loop.close()

    async def _answer(self, request: object, transcript: Transcript) -> None:
        async with self._semaphore:
            if request not in self._wanted:
                return
            try:
                reply = await self._call(transcript)
            # sys.exit() would end the event loop; and what the function waits for may be cancelled by somebody else,
            # such as its client.
            except BaseException as error:
                self._answered.put((request, failure_of(error)))
            else:
                self._answered.put((request, _reply(lambda: reply)))


def _reply(call: Callable[[], Any]) -> Reply:
    """What a call returned as a completion; whatever went wrong is a failure."""
    try:
        reply = call()
        if isinstance(reply, Completion) and isinstance(reply.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return reply
        if not isinstance(reply, str):
            raise TypeError(f"a policy's function returns the text of a reply, and this one returned {reply!r:.80}")
        return Completion(reply)
    except BaseException as error:  # sys.exit() would end a thread that others wait for
        return failure_of(error)


def _is_async(function: Callable[..., Any]) -> bool:
    called: object = getattr(function, "func", function)
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004


def required_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> list[str]:
    """The arguments without a default that are not `given`. A function with some answers, and makes no policy."""
    return [each.name for each in _parameters(function) if _is_needed(each) and each.name not in given]


def _is_needed(parameter: inspect.Parameter) -> bool:
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variadic


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # some of what is written in C has no signature
        return [inspect.Parameter("transcript", inspect.Parameter.POSITIONAL_ONLY)]


def _of_transcript(function: Callable[..., Any]) -> Callable[[Transcript], Any]:
    """`function` as one of a transcript."""
    given: Mapping[str, Any] = getattr(function, "keywords", {})  # what a `functools.partial` has been given
    parameters = [each for each in _parameters(function) if each.name not in given]
    asked = [each.name for each in parameters if each.name in PARAMETERS and each.kind is not each.POSITIONAL_ONLY]
    others = [each for each in parameters if _is_needed(each) and each.name not in asked]
    if asked and not others:
        return lambda transcript: function(**{name: PARAMETERS[name](transcript) for name in asked})
    if len(others) == 1 and not asked:
        name = others[0].name
        is_text = others[0].annotation in (str, "str") or name == "observation"
        read = PARAMETERS["observation" if is_text else "transcript"]
        if others[0].kind is inspect.Parameter.POSITIONAL_ONLY:
            return lambda transcript: function(read(transcript))
        return lambda transcript: function(**{name: read(transcript)})
    named = ", ".join(each.name for each in parameters)
    shown = function.func if isinstance(function, functools.partial) else function
    raise PolicyError(
        f"{getattr(shown, '__name__', shown)!r} has the parameters ({named}); a function that is a policy takes "
        f"one or more of: {', '.join(PARAMETERS)}"
    )


PolicyFunction = Callable[..., str | Completion | Coroutine[Any, Any, str | Completion]]
"""A function that is a policy; see `FunctionPolicy`."""
