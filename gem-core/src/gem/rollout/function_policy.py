"""A function as a policy: concurrent calls in threads, or on an event loop if it is async."""

import asyncio
import functools
import inspect
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from gem.checks import check_int
from gem.errors import PolicyError
from gem.failure import Failure, failure_of
from gem.rollout.policy import Policy
from gem.rollout.transcript import Completion, Transcript
from gem.vector.queues import drain

MAX_AT_ONCE = 256
"""Default of `at_once`."""

PARAMETERS: Mapping[str, Callable[[Transcript], Any]] = {
    "observation": lambda transcript: transcript.observation,
    "messages": Transcript.messages,
    "transcript": lambda transcript: transcript,
    "info": lambda transcript: transcript.info,
    "stop": lambda transcript: transcript.info.get("stop", []),
}
"""The parameters that a function may have, and their values."""

Reply = Completion | Failure


class FunctionPolicy(Policy):
    """Calls a function for each reply; an exception fails that one episode.

    The names of its parameters choose its arguments: `observation` (the last one), `messages` (the conversation as chat
    messages), `transcript` (a `gem.Transcript`), `info` (of the last step) and `stop` (texts at which a reply may
    stop). A single parameter with another name gets the transcript, or the observation if it is annotated `str`. The
    function returns the text of the reply, or a `Completion`.

    Calls are concurrent: in threads, or on one event loop if the function is async. A function that is not thread-safe
    needs `at_once=1`.

    Args:
        function: the function.
        at_once: the most concurrent calls.
        at_end: an async function that is called on the event loop of an async `function` when the policy is closed,
            such as the one that closes a client.

    Raises:
        PolicyError: it is not a function, or has other parameters.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        at_once: int = MAX_AT_ONCE,
        at_end: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        check_int("at_once", at_once, 1)
        if not callable(function):
            raise PolicyError(f"a policy is a gem.Policy or a function that returns replies, not {function!r:.80}")
        call = _of_transcript(function)
        self._answered: SimpleQueue[tuple[object, Reply]] = SimpleQueue()
        self._slots: dict[object, int] = {}
        """Pending request → its slot; forgotten requests are removed."""
        self._requests: dict[int, object] = {}
        if _is_async(function):
            self._runner = _EventLoopRunner(call, at_once, self._slots, self._answered, at_end)
        else:
            self._runner = _ThreadRunner(call, at_once, self._slots, self._answered)

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        requests: list[tuple[object, Transcript]] = []
        for slot, transcript in transcripts.items():
            request = object()
            self._requests[slot] = request
            self._slots[request] = slot
            requests.append((request, transcript))
        self._runner.start(requests)

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
    """Makes at most `at_once` concurrent calls, for the requests that are still `wanted`."""

    _at_once: int

    def __init__(
        self,
        call: Callable[[Transcript], Any],
        at_once: int,
        wanted: Mapping[object, int],
        answered: SimpleQueue[tuple[object, Reply]],
        at_end: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self._call, self._at_once, self._wanted, self._answered = call, at_once, wanted, answered
        self._at_end = at_end
        self._open()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def start(self, requests: Sequence[tuple[object, Transcript]]) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class _ThreadRunner(_Runner):
    """Daemon threads, one per call: a call that hangs must not keep the program from ending."""

    def _open(self) -> None:
        self._asked: SimpleQueue[tuple[object, Transcript] | None] = SimpleQueue()
        self._threads: int = 0
        self._lock = threading.Lock()
        self._idle = 0
        """Idle threads; below 0, the number of calls that wait for a thread."""

    def start(self, requests: Sequence[tuple[object, Transcript]]) -> None:
        for request in requests:
            self._start(request)

    def _start(self, asked: tuple[object, Transcript]) -> None:
        self._asked.put(asked)
        with self._lock:
            self._idle -= 1
            if self._idle >= 0 or self._threads == self._at_once:
                return
            self._idle += 1
        try:
            threading.Thread(target=self._work, name="gem-policy", daemon=True).start()
        except RuntimeError:  # the operating system refuses more: the existing threads share the calls
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
            del asked, request, transcript, reply  # not kept alive while the thread waits


class _EventLoopRunner(_Runner):
    """One event loop in a thread, so that an object that belongs to a loop, such as a client, stays on one."""

    def _open(self) -> None:
        self._semaphore = asyncio.Semaphore(self._at_once)
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gem-policy", daemon=True)
        self._thread.start()

    def start(self, requests: Sequence[tuple[object, Transcript]]) -> None:
        self._loop.call_soon_threadsafe(self._begin, requests)

    def _begin(self, requests: Sequence[tuple[object, Transcript]]) -> None:
        for request, transcript in requests:
            task = self._loop.create_task(self._answer(request, transcript))
            self._tasks.add(task)  # the event loop keeps only weak references
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(1)

    def _run(self) -> None:
        self._loop.run_forever()
        # Pending calls are cancelled, and have half a second to end.
        unfinished = asyncio.all_tasks(self._loop)
        for task in unfinished:
            task.cancel()
        if unfinished:
            self._loop.run_until_complete(asyncio.wait(unfinished, timeout=0.5))
        if self._at_end is not None:
            self._loop.run_until_complete(self._at_end())
        self._loop.close()

    async def _answer(self, request: object, transcript: Transcript) -> None:
        async with self._semaphore:
            if request not in self._wanted:
                return
            try:
                reply = await self._call(transcript)
            # sys.exit() must not end the event loop, and a client may cancel the call.
            except BaseException as error:
                self._answered.put((request, failure_of(error)))
            else:
                self._answered.put((request, _reply(lambda: reply)))


def _reply(call: Callable[[], Any]) -> Reply:
    """The result of a call as a completion, or its exception as a failure."""
    try:
        reply = call()
        if isinstance(reply, Completion) and isinstance(reply.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return reply
        if not isinstance(reply, str):
            raise TypeError(f"the function of a policy returns the text of a reply, not {reply!r:.80}")
        return Completion(reply)
    except BaseException as error:  # even sys.exit(): other calls need the thread
        return failure_of(error)


def _is_async(function: Callable[..., Any]) -> bool:
    called: object = getattr(function, "func", function)
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004


def required_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> list[str]:
    """The required arguments that are not `given`. Without any, a function makes a policy, and is not one."""
    return [each.name for each in _parameters(function) if _is_needed(each) and each.name not in given]


def _is_needed(parameter: inspect.Parameter) -> bool:
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variadic


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # some C functions do not have a signature
        return [inspect.Parameter("transcript", inspect.Parameter.POSITIONAL_ONLY)]


def _of_transcript(function: Callable[..., Any]) -> Callable[[Transcript], Any]:
    """`function` as a function of a transcript."""
    given: Mapping[str, Any] = getattr(function, "keywords", {})  # of a `functools.partial`
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
