"""A function as a policy: concurrent calls in threads, or on an event loop if it is async."""

import asyncio
import functools
import inspect
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any

from gem.checks import check_int
from gem.episode import Completion
from gem.errors import Failure, PolicyError, failure_of
from gem.packs.importing import parameters_of
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem.work.loops import EventLoop
from gem.work.threads import Threads, drain

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
_Request = tuple[int, object]
"""A slot, and what tells its request from earlier ones that were forgotten."""


class FunctionPolicy(Policy):
    """Calls a function for each reply; an exception fails that one episode.

    The names of its parameters choose its arguments: `observation` (the last one), `messages` (the conversation as chat
    messages), `transcript` (a `gem.Transcript`), `info` (of the last step) and `stop` (texts at which a reply may
    stop). A single parameter with another name gets the transcript, or the observation if it is annotated `str`. The
    function returns the text of the reply, or a `Completion`.

    Calls are concurrent: in threads, or on one event loop if the function is async. A function that is not thread-safe
    needs `at_once=1`.

    Args:
        function: see above.
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
        self._call = _of_transcript(function)
        self._answered: SimpleQueue[tuple[_Request, Reply]] = SimpleQueue()
        self._pending: dict[int, _Request] = {}
        """Requests by slot, without those that were forgotten."""
        self._at_end = at_end
        self._semaphore = asyncio.Semaphore(at_once)
        # One event loop, so that an object that belongs to a loop, such as a client, stays on one.
        self._runner = EventLoop("gem-policy") if _is_async(function) else Threads("gem-policy", at_once)

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        requests = {slot: (slot, object()) for slot in transcripts}
        self._pending |= requests
        if isinstance(self._runner, EventLoop):
            self._runner.start(self._answer_in_loop(requests[slot], each) for slot, each in transcripts.items())
            return
        for slot, transcript in transcripts.items():
            self._runner.start(partial(self._answer, requests[slot], transcript), self._answered.put)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Reply]:
        wanted = min(min_results, len(self._pending))
        until = None if timeout is None else time.monotonic() + timeout
        ready: dict[int, Reply] = {}
        while self._pending:
            wait = None if until is None else max(0.0, until - time.monotonic())
            for request, reply in drain(self._answered, wait if len(ready) < wanted else 0):
                if self._waits(request):
                    ready[request[0]] = reply
                    del self._pending[request[0]]
            if len(ready) >= wanted or (until is not None and time.monotonic() >= until):
                break
        return ready

    def forget(self, slot: int) -> None:
        self._pending.pop(slot, None)

    def close(self) -> None:
        self._pending.clear()
        if isinstance(self._runner, EventLoop):
            self._runner.close(after=self._at_end, timeout=1)
        else:
            self._runner.close()

    def _waits(self, request: _Request) -> bool:
        return self._pending.get(request[0]) is request

    def _answer(self, request: _Request, transcript: Transcript) -> tuple[_Request, Reply] | None:
        """The answer to a request, in a thread; None to one that nobody waits for any more."""
        if not self._waits(request):
            return None
        try:
            return request, _completion(self._call(transcript))
        except BaseException as error:  # even sys.exit(): other calls need the thread
            return request, failure_of(error)

    async def _answer_in_loop(self, request: _Request, transcript: Transcript) -> None:
        async with self._semaphore:
            if not self._waits(request):
                return
            try:
                reply = _completion(await self._call(transcript))
            except BaseException as error:  # sys.exit() must not end the event loop, and a client may cancel the call
                reply = failure_of(error)
            self._answered.put((request, reply))


def _completion(reply: object) -> Completion:
    if isinstance(reply, Completion) and isinstance(reply.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return reply
    if not isinstance(reply, str):
        raise TypeError(f"the function of a policy returns the text of a reply, not {reply!r:.80}")
    return Completion(reply)


def _is_async(function: Callable[..., Any]) -> bool:
    called: object = getattr(function, "func", function)
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004


def _of_transcript(function: Callable[..., Any]) -> Callable[[Transcript], Any]:
    """`function` as a function of a transcript."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some C functions do not have one
        return function
    given: Mapping[str, Any] = getattr(function, "keywords", {})  # of a `functools.partial`
    parameters = [each for each in signature.parameters.values() if each.name not in given]
    needed = parameters_of(function).needed
    asked = [each.name for each in parameters if each.name in PARAMETERS and each.kind is not each.POSITIONAL_ONLY]
    others = [each for each in parameters if each.name in needed and each.name not in asked]
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
