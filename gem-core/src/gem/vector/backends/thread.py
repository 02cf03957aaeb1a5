"""Envs that run in threads of this process."""

import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from queue import SimpleQueue

from gem.failure import Failure
from gem.vector.backend import EnvSet, timed_out
from gem.vector.messages import Autoreset, Maker, Rebuild, SlotMessage, SlotResult, Stream
from gem.vector.queues import drain
from gem.vector.slot import NOBODY, Slot

GRACE = 1.0
"""Seconds that `close` waits for env calls that are under way."""


class _Seat:
    """A slot, its message, and the thread that carries it out."""

    def __init__(self, number: int, maker: Maker, stream: Stream, info_methods: Sequence[str]) -> None:
        self.slot = Slot(number, maker, stream, info_methods, self._announced)
        self.message: SlotMessage = ""
        self.autoreset: Autoreset = "off"
        self.thread: threading.Thread | None = None
        self.since: float | None = None
        """When the call of the env that is under way began."""
        self.abandoned = False

    def _announced(self, number: int, stream: Stream) -> None:
        self.since = None if number == NOBODY else time.monotonic()


class ThreadBackend:
    """Envs that wait (for a network, a program, a model) wait together. Python code still runs one at a time.

    Threads start as they are needed. A thread cannot be stopped: one whose env hangs past its deadline is left to
    itself, its slot gets a new env and the others a new thread.

    Args:
        env_set: the envs.
        num_workers: threads; by default as many as slots, so that no env waits for another. Where the operating system
            gives fewer, those there are share the slots.
    """

    def __init__(self, env_set: EnvSet, num_workers: int | None) -> None:
        self._env_set = env_set
        self._seats = [self._seat(number, stream) for number, stream in enumerate(env_set.streams)]
        self._most = num_workers or len(self._seats)
        self._threads: set[threading.Thread] = set()
        self._todo: SimpleQueue[_Seat | None] = SimpleQueue()
        self._done: SimpleQueue[SlotResult] = SimpleQueue()
        self._look_again = 0.0
        self._closed = False
        # Held where a call ends and where it is given up: only one of the two can be.
        self._lock = threading.Lock()

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        for number, message in messages.items():
            self._hand_out(self._seats[number], message, autoreset)

    def recv(self, timeout: float | None) -> list[SlotResult]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            due = self._give_up_overdue()
            moments = [moment for moment in (until, due) if moment is not None]
            results = drain(self._done, max(0.0, min(moments) - time.monotonic()) if moments else None)
            if results or (until is not None and time.monotonic() >= until):
                return results

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for _ in self._threads:
            self._todo.put(None)
        until = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for seat in self._seats:
            # An env that is still at work is closed by its thread, whenever that comes back.
            if seat.thread is None:
                seat.slot.close()

    def _seat(self, number: int, stream: Stream) -> _Seat:
        return _Seat(number, self._env_set.makers[number], stream, self._env_set.info_methods)

    def _hand_out(self, seat: _Seat, message: SlotMessage, autoreset: Autoreset) -> None:
        seat.message, seat.autoreset = message, autoreset
        self._todo.put(seat)
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name="gem-env", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the operating system gives no more
                if not self._threads:
                    raise
                self._most = len(self._threads)
            else:
                self._threads.add(thread)

    def _work(self) -> None:
        while (seat := self._todo.get()) is not None:
            seat.thread = threading.current_thread()
            try:
                result = seat.slot.run(seat.message, seat.autoreset)
            except KeyboardInterrupt as error:  # no Ctrl-C, which goes to the main thread: the env's own
                result = seat.slot.interrupted(error)
            with self._lock:
                seat.since = seat.thread = None
                if seat.abandoned or self._closed:
                    break
            self._done.put(result)
        else:
            return
        seat.slot.close()

    def _give_up_overdue(self) -> float | None:
        """Rebuild the slots whose env call is overdue; returns when to look again."""
        limit = self._env_set.step_timeout
        if limit is None:
            return None
        now = time.monotonic()
        if now >= self._look_again:
            # A call that begins later is due later than this.
            self._look_again = now + limit
            for seat in list(self._seats):
                since = seat.since
                if since is None:
                    continue
                if now - since >= limit:
                    self._give_up(seat, limit)
                else:
                    self._look_again = min(self._look_again, since + limit)
        return self._look_again

    def _give_up(self, seat: _Seat, limit: float) -> None:
        with self._lock:
            if seat.thread is None:
                return
            seat.abandoned = True
            thread = seat.thread
        frame = sys._current_frames().get(thread.ident or 0)  # pyright: ignore[reportPrivateUsage]
        where = "".join(traceback.format_stack(frame)) if frame is not None else ""
        self._threads.discard(thread)
        number, stream = seat.slot.number, seat.slot.stream
        self._seats[number] = self._seat(number, stream)
        self._hand_out(self._seats[number], Rebuild(stream, Failure(timed_out(limit), where)), seat.autoreset)
