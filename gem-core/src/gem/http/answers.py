"""Answers of HTTP servers, and why there is none."""

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from gem.errors import Fault, Unreachable

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""The statuses of a server that may answer later."""
LONGEST_WAIT = 60.0
"""Most seconds before a retry."""


class Answer(NamedTuple):
    """An answer, whatever its status."""

    url: str
    """The address, after redirects."""
    status: int
    reason: str
    """The words beside the status."""
    headers: Mapping[str, str]
    """Names ignore case."""
    body: bytes
    """Empty if that of an error did not arrive."""
    seconds: float
    """Duration of the request."""
    requests: int
    """Requests that were made for it."""

    def __str__(self) -> str:
        moved = self.headers.get("Location") if 300 <= self.status < 400 else None
        text = f"moved to {moved}" if moved else self.body[:300].decode(errors="replace")
        return f"{self.status} {self.reason}: {text}"


class NoAnswer(Fault, ConnectionError):
    """A server did not answer, or with something that cannot be used; a further request may be.

    Args:
        what: happened.
        wait: seconds before the next request: None if that is not known, 0 for at once.
        limited: whether the server limits the rate of requests.
        answer: of a server that was reached, and is busy.
    """

    requests = 1
    """Requests that were made."""

    def __init__(
        self, what: str, wait: float | None = None, *, limited: bool = False, answer: Answer | None = None
    ) -> None:
        super().__init__(what)
        self.wait, self.limited, self.answer = wait, limited, answer


class NotConnected(NoAnswer, Unreachable):
    """No connection to the server."""


class Disconnected(NoAnswer):
    """The server ended the connection before its answer."""


class Unusable(NoAnswer):
    """An answer that the server would give again."""


def if_not_busy(answer: Answer) -> Answer:
    """The answer of a server that is neither overloaded nor failing; `NoAnswer` for a status of `RETRIED`."""
    if answer.status in RETRIED:
        raise NoAnswer(f"it answers {answer}", pause(answer.headers), limited=answer.status == 429, answer=answer)
    return answer


def pause(headers: Mapping[str, str]) -> float | None:
    """The pause in seconds that headers ask for: a number, or the date at which it ends. None for no pause."""
    for name, unit in (("Retry-After-Ms", 0.001), ("Retry-After", 1.0)):
        given = headers.get(name, "")
        for seconds in (lambda: float(given) * unit, lambda: parsedate_to_datetime(given).timestamp() - time.time()):  # noqa: B023
            try:
                return min(LONGEST_WAIT, max(0.0, seconds())) or None
            except ValueError:
                pass
    return None
