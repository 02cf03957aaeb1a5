"""The protocol of a backend, and its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gem.roles import Roles
from gem.vector.messages import Autoreset, Maker, SeedStream, SlotMessage, SlotResult


@dataclass(frozen=True, slots=True)
class EnvSet:
    """The envs of a vector: `makers` and `seeds` have one entry per slot.

    `step_timeout` is in seconds, for each `reset` and `step` of an env.
    """

    makers: Sequence[Maker]
    seeds: Sequence[int]
    info_methods: Sequence[str] = ()
    step_timeout: float | None = None
    roles: Roles | None = None
    """The models that envs may ask, for workers, whose use of them is counted there."""

    @property
    def streams(self) -> list[SeedStream]:
        """The initial seed stream of each slot."""
        return [SeedStream(seed) for seed in self.seeds]


GRACE = 1.0
"""Seconds that `close` waits for running calls and for envs to close."""


class Backend(Protocol):
    """Passes messages to envs, and results back. Every message has exactly one result."""

    @property
    def independent(self) -> bool:
        """Whether an env that waits keeps no other from going on."""
        ...

    def share_capacities(self) -> None:
        """Let the envs share with this process what there are only so many of. Raises `ConfigError` if it cannot."""
        ...

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        """Send each slot a message. None of these slots has one pending."""
        ...

    def recv(self, timeout: float | None) -> list[SlotResult]:
        """The available results; waits up to `timeout` seconds for the first. At least one message is pending."""
        ...

    def close(self) -> None:
        """Close all envs and end all workers. Called once."""
        ...


def timed_out(limit: float) -> str:
    """The error of a slot whose env did not answer within `limit` seconds."""
    return f"TimeoutError: timed out after {limit:g} s"
