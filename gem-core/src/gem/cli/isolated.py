"""Calls of what packs bring along, in processes of their own: one that hangs or crashes is one without an answer."""

import socket
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, json

from gem.cli.error_output import error_line
from gem.packs.importing import import_object
from gem.work.channel import Channel, Ended
from gem.work.process import STDERR, WorkerProcess


class Answer(Struct):
    """The result of a call, or why there is none."""

    returned: Any = None
    error: str | None = None


class IsolatedCalls:
    """Calls of a function, one after the other, which were begun in a process.

    Args:
        function: `"module:function"`; returns what JSON can hold.
        arguments: that of each call, as JSON.
    """

    def __init__(self, function: str, arguments: Sequence[object]) -> None:
        self._count = len(arguments)
        self._worker = WorkerProcess("gem.cli.isolated:serve", function, arguments, stdout=STDERR)

    def answers(self, until: float) -> list[Answer]:
        """Answers of those calls that have ended until then, by `time.monotonic`; the process is killed then.

        A call that ends the process is the last with an answer, which says so.
        """
        received: list[bytes] = []
        how_it_ended: list[Answer] = []
        try:
            while len(received) < self._count:
                received.append(self._worker.channel.receive(until))
        except TimeoutError:
            received += self._arrived()
        except Ended:
            how_it_ended.append(Answer(error=f"its process {self._worker.how_it_ended()}"))
        finally:
            self._worker.kill(wait=False)
        return [json.decode(each, type=Answer) for each in received] + how_it_ended

    def close(self) -> None:
        """Wait for the end of the process."""
        self._worker.close()

    def _arrived(self) -> list[bytes]:
        """Answers that were not waited for, while others were."""
        try:
            return self._worker.channel.receive_ready()
        except Ended:
            return []


def serve(number: int, function: str, arguments: Sequence[object]) -> None:
    """Run the process: answers as JSON, by the socket `number`."""
    channel = Channel(socket.socket(fileno=number))
    for argument in arguments:
        try:
            answer = Answer(import_object(function)(argument))
        except BaseException as error:  # also SystemExit
            answer = Answer(error=error_line(error))
        channel.send(json.encode(answer))
