"""Arrays that a learner reads, made of episodes: a sequence of ids each, and tables of actions and episodes.

An episode is *one* sequence, of which only the sampled ids are trained on, so its cost grows linearly with its turns.
(A segment that a chat template restarted is a sequence of its own.)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gem.episode import Episode, Trace
from gem.episode.episode import AGENT
from gem.episode.segments import segments_of
from gem.errors import NothingToLearn

Ints = NDArray[np.int64]
"""Ids, or rows of a table."""
Floats = NDArray[np.float32]
"""Rewards, log-probabilities, returns, advantages."""
Bools = NDArray[np.bool_]
"""Masks."""
Strings = NDArray[np.str_]
"""Names."""


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """The `ids` that the engine read and sampled in one segment of one episode. All arrays are ``[length]``."""

    ids: Ints
    sampled: Bools
    """Mask of the ids that the model sampled and is trained on; only these are scored."""
    logprobs: Floats
    """Log-probabilities of the sampled ids when they were sampled; 0 for the others."""
    turn: Ints
    """The row of the table of actions that an id belongs to; -1 for ids that the model did not sample."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EpisodeTable:
    """A row for every episode of a batch, ``[episodes]`` each. Episodes that failed are not in it."""

    group: Ints
    """Equal for episodes that started alike: from the same seed of the same environment."""
    env: Strings
    """The id of its environment."""
    player: Strings
    """The player whose trace it is."""
    success: Bools
    """True if it succeeded."""
    truncated: Bools
    """True if it was truncated instead of terminated."""
    magnitude: Floats
    """The sum of the absolute rewards: the size that rounding errors of its return are relative to."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Episodes as `sequences`, and a table with a row for every action (`rewards`, …), ``[actions]`` each.

    An action is a turn, unless `gem_train.algorithms.actions.regroup` made it a token or an episode. The actions of an
    episode are consecutive rows, in order, and the sequences are in the order of their actions.

    Raises:
        ValueError: a sequence begins with a sampled id, which nothing predicts.
    """

    sequences: tuple[TokenSequence, ...]
    rewards: Floats
    episode: Ints
    """The row of `episodes` that the action belongs to."""
    cut: Bools
    """True if the reply was cut off at a limit on its length."""
    trained: Bools
    """True if the action is trained on, and counts in means over a batch or a group."""
    state_only: Bools
    """True if the row stands for the state at which its episode was truncated by choice, without an action."""
    version: Ints
    """Version of the weights that the reply was sampled under; -1 if unknown, -2 if they changed meanwhile."""
    episodes: EpisodeTable
    """The table of episodes."""

    def __post_init__(self) -> None:
        if any(sequence.sampled[:1].any() for sequence in self.sequences):
            raise ValueError("a sequence must begin with an id that was not sampled")

    @classmethod
    def of(cls, sequences: Sequence[TokenSequence], rewards: Floats, episode: Ints, group: Ints | None = None) -> Self:
        """A batch of episodes of one environment, without replies that were cut.

        `group` is ``[episodes]``; by default each episode is a group of its own.
        """
        rows, count = len(rewards), int(episode.max(initial=-1)) + 1
        no, yes = np.zeros(rows, np.bool_), np.ones(rows, np.bool_)
        table = EpisodeTable(
            group=np.arange(count) if group is None else group,
            env=np.full(count, ""),
            player=np.full(count, AGENT),
            success=np.zeros(count, np.bool_),
            truncated=np.zeros(count, np.bool_),
            magnitude=np.bincount(episode, np.abs(rewards), count).astype(np.float32),
        )
        return cls(tuple(sequences), rewards, episode, no, yes, no, np.full(rows, -1), table)

    @property
    def num_turns(self) -> int:
        """Number of rows of the table of actions."""
        return len(self.rewards)


def collate(
    episodes: Iterable[Episode],
    traces: Callable[[Episode], Iterable[Trace]] | None = None,
    rewards_of: Callable[[Trace], Sequence[float]] = attrgetter("rewards"),
) -> Batch:
    """Make a batch of the episodes that did not fail: of those `traces` of each that are trained, by default of all.

    In a game each trace has a row in the table of episodes, and a group is what one player did from one start.

    Args:
        episodes: those that were played.
        traces: the traces of an episode that are trained.
        rewards_of: the rewards of the turns of a trace; by default those of the environment.

    Raises:
        NothingToLearn: all of them failed, or none has a turn.
    """
    sequences: list[TokenSequence] = []
    rewards: list[float] = []
    owners: list[int] = []
    cut: list[bool] = []
    versions: list[int] = []
    played = list(episodes)
    completed = [episode for episode in played if episode.failure is None]
    if not completed:
        first = next((episode.failure.error for episode in played if episode.failure), "no episode was played")
        raise NothingToLearn(f"all {len(played)} episodes of a batch failed, the first of them with {first}")
    traced = [(episode, trace) for episode in completed for trace in (traces or traces_of)(episode)]
    rewarded = [rewards_of(trace) for _, trace in traced]
    for index, (_, trace) in enumerate(traced):
        sequences.extend(_sequences(trace, first_row=len(rewards)))
        rewards.extend(rewarded[index])
        owners.extend([index] * len(trace.turns))
        cut.extend(turn.completion.finish_reason != "stop" for turn in trace.turns)
        versions.extend(_version(turn.completion.weight_versions) for turn in trace.turns)
    if not sequences:
        raise NothingToLearn(f"no episode of a batch of {len(played)} has a turn: nothing could be said in any of them")
    no = np.zeros(len(rewards), np.bool_)
    return Batch(
        tuple(sequences),
        np.array(rewards, np.float32),
        np.array(owners, np.int64),
        cut=np.array(cut, np.bool_),
        trained=~no,
        state_only=no,
        version=np.array(versions, np.int64),
        episodes=_table(traced, rewarded),
    )


def _version(versions: Sequence[int]) -> int:
    if not versions:
        return -1
    return versions[0] if len(versions) == 1 else -2


def traces_of(episode: Episode, players: Collection[str] = ()) -> Iterator[Trace]:
    """The traces of these players, by default of all; an episode that ended before its first turn has an empty one."""
    yield from (trace for trace in episode.traces or (Trace(()),) if not players or trace.player in players)


def _table(traced: Sequence[tuple[Episode, Trace]], rewards: Sequence[Sequence[float]]) -> EpisodeTable:
    groups: dict[tuple[str, int, str], int] = {}
    starts = [(episode.id, episode.seed, trace.player) for episode, trace in traced]
    return EpisodeTable(
        group=np.array([groups.setdefault(start, len(groups)) for start in starts], np.int64),
        env=np.array([episode.id for episode, _ in traced], np.str_),
        player=np.array([trace.player for _, trace in traced], np.str_),
        success=np.array([episode.success for episode, _ in traced], np.bool_),
        truncated=np.array([episode.truncated for episode, _ in traced], np.bool_),
        magnitude=np.array([sum(map(abs, each)) for each in rewards], np.float32),
    )


def _sequences(trace: Trace, first_row: int) -> Iterable[TokenSequence]:
    for segment in segments_of(trace.turns):
        read = len(segment.prompt_ids)
        turn = np.array([-1] * read + list(segment.turns), np.int64)
        yield TokenSequence(
            np.array(segment.prompt_ids + segment.response_ids, np.int64),
            turn >= 0,
            np.array([0.0] * read + list(segment.logprobs), np.float32),
            np.where(turn >= 0, turn + first_row, -1),
        )
