"""Calls of what packs bring along, each in a process of its own: one that hangs or crashes is one failed call."""

import socket
import time
from typing import Any

from msgspec import Struct, json

from gem.cli.error_output import error_line
from gem.packs.importing import import_object
from gem.work.channel import Channel, Ended
from gem.work.process import STDERR, WorkerProcess

_LEAST = 1.0
"""Seconds that a call has in any case when its result is asked for."""


class CallFailed(Exception):
    """The call did not return."""


class _Answer(Struct):
    """The result of a call, or why there is none."""

    returned: Any = None
    error: str | None = None


class IsolatedCall:
    """A call that was begun.

    Args:
        function: `"module:function"`; returns what JSON can hold.
        argument: its argument, as JSON.
        seconds: its time limit.
    """

    def __init__(self, function: str, argument: object, seconds: float) -> None:
        self._began, self._seconds = time.monotonic(), seconds
        self._worker = WorkerProcess("gem.cli.isolated:serve", function, argument, stdout=STDERR)

    def result(self) -> Any:
        """What it returned; `CallFailed` says why it did not. Its process has ended then."""
        try:
            until = max(self._began + self._seconds, time.monotonic() + _LEAST)
            answer = json.decode(self._worker.channel.receive(until), type=_Answer)
        except TimeoutError:
            raise CallFailed(f"it has not ended after {self._seconds:g} s") from None
        except Ended:
            raise CallFailed(f"its process {self._worker.how_it_ended()}") from None
        finally:
            self._worker.close()
        if answer.error is not None:
            raise CallFailed(answer.error)
        return answer.returned


def serve(number: int, function: str, argument: object) -> None:
    """Run the process: the answer as JSON, by the socket `number`."""
    channel = Channel(socket.socket(fileno=number))
    try:
        answer = _Answer(import_object(function)(argument))
    except BaseException as error:  # also SystemExit
        answer = _Answer(error=error_line(error))
    channel.send(json.encode(answer))
