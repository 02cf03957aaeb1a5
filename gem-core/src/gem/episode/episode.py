"""Episodes and the traces of their players."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import index
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gem.checks import check_int
from gem.episode.turn import Completion, Turn
from gem.errors import Failure
from gem.packs.component_ref import ComponentRef
from gem.packs.spec import EnvSpec

if TYPE_CHECKING:
    from gem.core import Observation
else:  # for the codec
    from gem.episode.turn import Observation

AGENT = "agent"
"""The player of an env that does not name its players."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where an episode starts: `seed` and `options` of the reset of the env `id` (by default that of the slot), or
    of the `gem.vector.Share` of that name.

    Equal starts give equal episodes, but for the noise of the policy; their `group` tells them apart.

    Raises:
        TypeError: the seed is not an integer. Its range is checked when an env is reset with it.
        ConfigError: `group` is not an integer >= 0.
    """

    seed: int
    id: str | None = None
    options: Mapping[str, Any] | None = field(default=None, hash=False)
    group: int = 0
    """Its index among the episodes from this start."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", index(self.seed))  # a NumPy integer becomes an int
        check_int("group", self.group, 0)


def total(rewards: Iterable[float]) -> float:
    """The sum of rewards: exact (that of `sum` depends on the version of Python), but for infinite and huge ones."""
    given = list(rewards)
    try:
        return math.fsum(given)
    except (ValueError, OverflowError):  # inf and -inf, or too large
        return sum(given)


class PackVersion(Struct, frozen=True, forbid_unknown_fields=True):
    """The `distribution` that provides an env, and its `version`."""

    distribution: str
    version: str


class Trace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The turns of one player, with what is known of their tokens."""

    turns: tuple[Turn, ...]
    """The turns, in order."""
    player: str = AGENT
    """The name by which the env calls the player."""
    steps: tuple[int, ...] = ()
    """The number of each turn among all of the episode, from 0; empty if nobody else acted."""
    policy: ComponentRef | None = None
    """The policy of the player, by name or with settings; None if it is not known."""
    system: str = ""
    """The system message with which the env began the conversation."""

    @property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each turn."""
        return tuple(turn.reward for turn in self.turns)

    @property
    def total_reward(self) -> float:
        """The undiscounted return of the player."""
        return total(self.rewards)


class Episode(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    eq=False,
    tag_field="gem_record",
    tag=2,
):
    """A finished episode of the environment `id` from `seed`, with a trace of each player, in the order of first turns.

    It ended `terminated` or `truncated`; `success` is `info["success"]` of the last step; `failure` is None unless the
    env or a policy failed. Two episodes are equal if all but their `key` and their times is.
    """

    id: str
    seed: int
    group: int = 0
    """Its index among the episodes from this seed."""
    options: Mapping[str, Any] | None = None
    """The options of its reset."""
    spec: EnvSpec | None = None
    """The spec of the env; None if it was built by hand, and so cannot be rebuilt."""
    pack: PackVersion | None = None
    """The distribution of the env; None if no pack provides it, or before it is recorded."""
    key: str = ""
    """A name of its own, by which others may refer to it."""
    parent: str = ""
    """The key of the episode that it was forked or relabelled from."""
    traces: tuple[Trace, ...]
    """A trace for each player."""
    observation: Observation
    """The last observation, without a reply."""
    terminated: bool
    truncated: bool
    success: bool
    failure: Failure | None = None
    failed_on: Completion | None = None
    """The reply at which the env failed; None if it failed at its reset, if the policy failed, or without a failure."""
    cut_off: bool = False
    """Whether the rollout truncated it: at its turn limit, or because it was `out_of_context`."""
    out_of_context: bool = False
    """Whether its conversation filled the model's context, so that the policy could not reply."""
    started: datetime | None = None
    """The time of its reset, with the time zone."""
    seconds: float = 0.0
    """Seconds from its reset to its end."""
    gem_core: str = ""
    """The version of gem-core that recorded it."""
    api: int = 0
    """The version of the hooks then."""
    labels: Mapping[str, Any] = {}
    """Further data of the recording program, such as the phase and the step of a training run."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Episode) and all(
            getattr(self, name) == getattr(other, name)
            for name in self.__struct_fields__
            if name not in ("key", "started", "seconds")
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]: infos are dicts

    def each_trace(self, change: Callable[[Trace], Trace]) -> "Episode":
        """The episode with every trace changed."""
        return replace(self, traces=tuple(map(change, self.traces)))

    @property
    def start(self) -> Start:
        """Where it started."""
        return Start(self.seed, self.id, self.options, self.group)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of all players, in the order in which they were played."""
        if len(self.traces) == 1:
            return self.traces[0].turns
        return tuple(turn for _, turn in self.played())

    def played(self) -> Iterator[tuple[str, Turn]]:
        """The turns of all players in the order in which they were played, each with its player."""
        numbered = [
            (number, trace.player, turn)
            for trace in self.traces
            for number, turn in zip(trace.steps or range(len(trace.turns)), trace.turns, strict=True)
        ]
        for _, player, turn in sorted(numbered, key=lambda each: each[0]):
            yield player, turn

    @property
    def policy(self) -> ComponentRef | None:
        """The policy of the first player."""
        return self.traces[0].policy if self.traces else None

    @property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each turn."""
        return tuple(turn.reward for turn in self.turns)

    @property
    def total_reward(self) -> float:
        """The undiscounted return, of all players together."""
        return total(turn.reward for trace in self.traces for turn in trace.turns)
