"""What every backend promises, and what it is started with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gem.vector.messages import Autoreset, Maker, SeedStream, SlotMessage, SlotResult


@dataclass(frozen=True, slots=True)
class EnvSet:
    """The envs to run, and how.

    `makers` and `seeds` have one entry a slot. `step_timeout` is in seconds, for each `reset` and `step` of an env.
    """

    makers: Sequence[Maker]
    seeds: Sequence[int]
    info_methods: Sequence[str] = ()
    step_timeout: float | None = None

    @property
    def seed_streams(self) -> list[SeedStream]:
        """Where the seeds of each slot begin."""
        return [SeedStream(seed) for seed in self.seeds]


class Backend(Protocol):
    """Carries messages to envs, and results back. Every message brings exactly one result."""

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        """Give each slot a message. No slot has one already."""
        ...

    def recv(self, timeout: float | None) -> list[SlotResult]:
        """What has arrived; waits for the first, `timeout` seconds at most. Something is under way."""
        ...

    def close(self) -> None:
        """Leave nothing behind. Closing twice is fine."""
        ...


def timed_out(limit: float) -> str:
    """The error of a slot whose env did not answer within `limit` seconds."""
    return f"TimeoutError: timed out after {limit:g} s"
