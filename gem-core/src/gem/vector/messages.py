"""What goes to the slots of a vector, and what comes back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gem import seeding
from gem.core import Env, Observation, Step, new_tuple
from gem.failure import Failure

Autoreset = Literal["same_step", "next_step", "off"]
"""What follows the end of an episode.

- `same_step`: a new episode begins at once. The last step's observation is the first of the new episode; its own
  are in `info["final_observation"]` and `info["final_info"]`.
- `next_step`: the next action is not played; a new episode begins instead, which arrives with reward 0.
- `off`: nothing; the slot needs a `Reset`.
"""

STRIDE = 0x1E3779B97F4A7C15
"""From the seed of one episode to that of the slot's next: odd, so that no seed returns before all have come, and so
large that neighbouring bases stay apart. `seeding.derive` would cost more than a step of a quick env."""

Maker = Callable[[], Env]


@dataclass(frozen=True, slots=True)
class Reset:
    """The message that starts a new episode in a slot, from `seed` and with `options`.

    Without a seed, the slot's own stream gives the next one.

    Raises:
        TypeError, ValueError: see `gem.seeding.check_seed`.
    """

    seed: int | None = None
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:  # an integer of NumPy's would overflow on the way to the next episode's seed
            object.__setattr__(self, "seed", seeding.check_seed(self.seed))


class SlotResult(NamedTuple):
    """What came back from a `slot`: a `step`, a `failure`, or both.

    A reset arrives as a step that brought nothing: reward 0, neither terminated nor truncated. Both come only with
    autoreset `same_step`: either the episode failed and the step is the start of the next one (reward NaN,
    truncated), or the step ended an episode soundly and the reset after it failed.
    """

    slot: int
    step: Step | None
    failure: Failure | None


class SeedStream(NamedTuple):
    """The seeds of a slot's episodes, and which of them is the current one (-1: none yet)."""

    base: int
    number: int = -1

    @property
    def seed(self) -> int:
        """The seed of the current episode: the base for the first, and for later ones a stride further each time."""
        return (self.base + self.number * STRIDE) % seeding.SEEDS

    def next(self) -> "SeedStream":
        """The stream, one episode on."""
        return new_tuple(SeedStream, (self.base, self.number + 1))


@dataclass(slots=True)
class EpisodeLog:
    """All it takes to play a slot's current episode again: envs are deterministic."""

    stream: SeedStream
    options: Mapping[str, Any] | None = None
    actions: list[str] = field(default_factory=list[str])
    observation: Observation = ""
    """The last one, to check that the replay came to the same point."""
    playing: bool = False
    """Whether an episode has begun that neither failed nor was the end of the slot."""
    failure: Failure | None = None
    """Why the episode could not be played again: the answer to the slot's next action."""


@dataclass(frozen=True, slots=True)
class Build:
    """Build the env, so that settings it refuses are known before anything is played."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """What the slot was doing is lost: build the env anew, and answer with the failure."""

    stream: SeedStream
    failure: Failure


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring a new env to where a lost one stood, and answer with nothing."""

    log: EpisodeLog


SlotMessage = str | Reset | Build | Rebuild | Restore
"""Callers send actions and `Reset`s; the others pass between the backends and their workers."""
