"""The messages to the slots of a vector, and their results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gem import seeding
from gem.core import Env, Observation, Step, new_tuple
from gem.errors import Failure

Autoreset = Literal["same_step", "next_step", "off"]
"""Behaviour of a slot at the end of an episode, as in Gymnasium.

- `same_step`: a new episode begins. The result has its first observation; the last observation and info of the old
  episode are in `info["final_observation"]` and `info["final_info"]`.
- `next_step`: the next action is ignored and a new episode begins, with reward 0.
- `off`: nothing; the slot needs a `Reset`.
"""

STRIDE = 0x1E3779B97F4A7C15
"""The difference between the seeds of successive episodes of a slot: odd, so that no seed repeats before all have
occurred, and large, so that neighbouring bases do not meet. `seeding.derive` would cost more than a quick step."""

Maker = Callable[[], Env]


@dataclass(frozen=True, slots=True)
class Reset:
    """A message: start a new episode with `options`, from `seed` (by default the next of the slot's stream)."""

    seed: int | None = None
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:  # a NumPy integer would overflow
            object.__setattr__(self, "seed", seeding.check_seed(self.seed))


class SlotResult(NamedTuple):
    """The result of a message to a `slot`: a `step`, a `failure`, or both.

    The step of a reset has reward 0, and is neither terminated nor truncated. Both occur only with autoreset
    `same_step`: either the episode failed and the step starts the next one (reward NaN, truncated), or the step ended
    an episode and the reset after it failed.
    """

    slot: int
    step: Step | None
    failure: Failure | None


class SeedStream(NamedTuple):
    """The seeds of the episodes of a slot, and the index of the current one (-1 before the first)."""

    base: int
    number: int = -1

    @property
    def seed(self) -> int:
        """The seed of the current episode: the base for the first, plus one stride for each later one."""
        return (self.base + self.number * STRIDE) % seeding.SEEDS

    def next(self) -> "SeedStream":
        """The stream at the next episode."""
        return new_tuple(SeedStream, (self.base, self.number + 1))


@dataclass(slots=True)
class EpisodeLog:
    """The current episode of a slot, to replay it in a new worker: envs are deterministic."""

    stream: SeedStream
    options: Mapping[str, Any] | None = None
    actions: list[str] = field(default_factory=list[str])
    observation: Observation = ""
    """The last one, to check the replay."""
    playing: bool = False
    """True while an episode is running."""
    failure: Failure | None = None
    """The reason for which the episode is lost: the result of the next action."""


@dataclass(frozen=True, slots=True)
class Build:
    """A message: build the env, so that refused settings are reported before the first episode."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A message: the episode is lost; build a new env, and return the failure."""

    stream: SeedStream
    failure: Failure


@dataclass(frozen=True, slots=True)
class Restore:
    """A message: replay an episode in a new env; the result is empty."""

    log: EpisodeLog


SlotMessage = str | Reset | Build | Rebuild | Restore
"""Callers send actions and `Reset`s, the vector itself `Build`, and backends the others."""
