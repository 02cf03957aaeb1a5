"""How long a server that does not answer is waited for."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from gem.http.patience import Patience

SECONDS = 30.0
LONGEST_PAUSE = 1.0


class Clock:
    """A time that passes only in pauses."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def waited(self, pauses: Iterator[float], meanwhile: Callable[[], None] = lambda: None) -> float:
        """Wait in each of the pauses, and let something happen in each; the seconds until there are no more."""
        began = self.now
        for pause in pauses:
            assert 0 < pause <= LONGEST_PAUSE
            self.now += pause
            assert self.now < began + 10 * SECONDS
            meanwhile()
        return self.now - began


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("gem.http.patience.time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


@pytest.fixture
def patience() -> Patience:
    patience = Patience()
    patience.reached("known")
    return patience


def nearly(seconds: float) -> object:
    """All of them, but for a last pause that would end later."""
    return pytest.approx(seconds - LONGEST_PAUSE / 2, abs=LONGEST_PAUSE / 2)  # pyright: ignore[reportUnknownMemberType]


def test_a_server_that_has_never_answered_is_not_waited_for(clock: Clock, patience: Patience) -> None:
    assert clock.waited(patience.pauses("another", SECONDS)) == 0


def test_those_who_come_later_wait_only_for_what_is_left(clock: Clock, patience: Patience) -> None:
    first = patience.pauses("known", SECONDS)
    clock.now += next(first)
    clock.now += SECONDS / 2

    left = SECONDS / 2
    assert clock.waited(patience.pauses("known", SECONDS)) == nearly(left)
    assert clock.waited(first) <= LONGEST_PAUSE
    assert clock.waited(patience.pauses("known", SECONDS)) <= LONGEST_PAUSE


def test_a_server_that_was_reached_again_is_waited_for_as_long_as_at_first(clock: Clock, patience: Patience) -> None:
    assert clock.waited(patience.pauses("known", SECONDS)) == nearly(SECONDS)
    patience.reached("known")
    assert clock.waited(patience.pauses("known", SECONDS)) == nearly(SECONDS)


def test_one_who_never_reaches_it_stops_though_others_do(clock: Clock, patience: Patience) -> None:
    waited = clock.waited(patience.pauses("known", SECONDS), meanwhile=lambda: patience.reached("known"))
    assert waited == nearly(SECONDS)
