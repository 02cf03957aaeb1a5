"""Envs in the threads of the vector engine, for event loops: a call of an env never blocks one."""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

from gem import seeding
from gem.vector.backend import EnvSet
from gem.vector.backends.thread import ThreadBackend
from gem.vector.messages import Build, Maker, SlotMessage, SlotResult
from gem.work.lifetime import at_exit
from gem.work.threads import Threads

_CLOSED = "this session is closed"
_ELSEWHERE = (
    "these sessions belong to the process that made them, and a fork of it does not have their threads: make Sessions "
    "in each process"
)
_CHECK = 1.0
"""Most seconds between two checks for calls that exceed their time limit."""
_SHORTEST_CHECK = 0.005


class EnvThreads:
    """A number of envs, each of which carries out one message at a time; any number of event loops may use them.

    Envs that nobody closes are closed at the end of the process: most frameworks do not say when they have finished.

    Args:
        maker: makes an env.
        count: how many there are at most; each is built when it is first used.
        step_timeout: seconds that one call may take.
    """

    def __init__(self, maker: Maker, count: int, step_timeout: float | None) -> None:
        seeds: Sequence[int] = [seeding.fresh() for _ in range(count)]
        self._limit = step_timeout
        self._backend = ThreadBackend(EnvSet([maker] * count, seeds, (), step_timeout), None, self._arrived)
        # An abandoned coroutine gives its env back wherever it is collected, and be it in a block with this lock.
        self._lock = threading.RLock()
        self._free = deque(range(count))
        self._queue: deque[asyncio.Future[int]] = deque()
        """Futures of those that wait for an env."""
        self._waiting: dict[int, asyncio.Future[SlotResult]] = {}
        """Futures of those that wait for the answer of an env."""
        self._answers: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[SlotResult], SlotResult]]] = {}
        """Answers that a loop has been woken for: it is woken once for all that arrive before it is awake."""
        self._left: set[int] = set()
        """Envs in a call that nobody waits for."""
        self._watching: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        """Loops that check for overdue calls: one check for all calls costs a tenth of a timer for each."""
        self._closed = False
        self._process = os.getpid()
        at_exit(self._close_at_exit)

    async def check(self) -> None:
        """Build one env, so that refused settings raise here."""
        slot = await self.take()
        try:
            step = (await self.run(slot, Build())).step
        finally:
            self.give_back(slot)
        if step is not None and step.info["refused"] is not None:
            raise step.info["refused"]

    async def take(self) -> int:
        """The number of an env that is free, which is the caller's until `give_back`; waits for one."""
        self._check_process()
        with self._lock:
            self._check_open()
            if self._free:
                return self._free.popleft()
            future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            self._queue.append(future)
            self._watch(future.get_loop())
        try:
            return await future
        except asyncio.CancelledError:
            with self._lock:
                if future in self._queue:
                    self._queue.remove(future)
            if future.done() and not future.cancelled():
                self.give_back(future.result())
            raise

    def give_back(self, slot: int) -> None:
        """Let others have it; if it is in a call, after that."""
        if self._is_forked():
            return
        with self._lock:
            waiting = self._waiting.pop(slot, None)
            if waiting is not None:
                _later(waiting, lambda: _refuse(waiting))
                self._left.add(slot)
            elif slot not in self._left:
                self._pass_on(slot)

    async def run(self, slot: int, message: SlotMessage) -> SlotResult:
        """Carry out a message."""
        self._check_process()
        future: asyncio.Future[SlotResult] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._check_open()
            self._waiting[slot] = future
            self._backend.send({slot: message}, "off")
            self._watch(future.get_loop())
        return await future

    async def close(self) -> None:
        """Close every env and end every thread. Who waits for one is told. Closing twice is fine.

        A fork leaves them as they are: they are those of its parent.
        """
        if self._is_forked():
            return
        self._refuse_all()
        closing = Threads("gem-close")
        try:
            outcome = await asyncio.wrap_future(closing.submit(self._backend.close))
        except RuntimeError:  # no thread starts at the end of the process, or where the system refuses more
            self._backend.close()
        else:
            outcome.get()
        finally:
            closing.close()

    def _close_at_exit(self) -> None:
        if not self._is_forked():
            self._refuse_all()
            self._backend.close()

    def _refuse_all(self) -> None:
        """Tell those who wait, and those who come later, that this is closed."""
        with self._lock:
            self._closed = True
            waiting = [*self._waiting.values(), *self._queue]
            self._waiting.clear()
            self._queue.clear()
        for future in waiting:
            _later(future, lambda future=future: _refuse(future))

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Replace the envs whose call is overdue, from this loop, for as long as it waits for a call or an env."""
        if self._limit is not None and loop not in self._watching:
            self._watching.add(loop)
            loop.call_soon(self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            # A call that was given up has its env still: who waits for one waits for that too.
            if self._closed or not any(each.get_loop() is loop for each in (*self._queue, *self._waiting.values())):
                self._watching.discard(loop)
                return
            due = self._backend.replace_overdue() or 0.0
            loop.call_later(min(_CHECK, max(_SHORTEST_CHECK, due - time.monotonic())), self._check, loop)

    def _is_forked(self) -> bool:
        return self._process != os.getpid()

    def _check_process(self) -> None:
        """Check the process before the lock is taken, which a thread of the parent may have held when it was forked."""
        if self._is_forked():
            raise RuntimeError(_ELSEWHERE)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(_CLOSED)

    def _arrived(self, result: SlotResult) -> None:
        """Take a result, in the thread of the env."""
        with self._lock:
            future = self._waiting.pop(result.slot, None)
            if result.slot in self._left:
                self._left.remove(result.slot)
                self._pass_on(result.slot)
            if future is None:
                return
            loop = future.get_loop()
            asleep = loop not in self._answers
            # Kept until the lock is free, because the coroutines that end with a closed loop may want it.
            closed = [self._answers.pop(each) for each in [*self._answers] if each.is_closed()] if asleep else []
            self._answers.setdefault(loop, []).append((future, result))
        closed.clear()
        if asleep:
            _later(future, lambda: self._deliver(loop))

    def _deliver(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give out the answers, in that loop."""
        with self._lock:
            answers = self._answers.pop(loop)
        for future, result in answers:
            if not future.done():
                future.set_result(result)

    def _pass_on(self, slot: int) -> None:
        """Give an env to whoever has waited longest, in a loop that still runs."""
        while self._queue:
            future = self._queue.popleft()
            if _later(future, lambda future=future: self._hand_over(future, slot)):
                return
        self._free.append(slot)

    def _hand_over(self, future: "asyncio.Future[int]", slot: int) -> None:
        if future.done():  # it has been cancelled meanwhile
            self.give_back(slot)
        else:
            future.set_result(slot)


def _later(future: "asyncio.Future[Any]", act: Callable[[], object]) -> bool:
    """Call `act` in the loop of a future, from any thread; False if that loop is closed."""
    try:
        future.get_loop().call_soon_threadsafe(act)
    except RuntimeError:
        return False
    return True


def _refuse(future: "asyncio.Future[Any]") -> None:
    if not future.done():
        future.set_exception(RuntimeError(_CLOSED))
