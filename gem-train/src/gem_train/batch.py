"""From episodes to the arrays that a learner reads: a sequence of ids per episode, and tables of actions and episodes.

An episode is *one* sequence, of which only the sampled ids are trained on, so its cost grows linearly with its turns.
(A segment that a chat template restarted is a sequence of its own.)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gem.errors import NothingToLearn
from gem.rollout.segments import segments_of
from gem.rollout.transcript import Episode

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
    """Which ids the model sampled and is trained on; only these are scored."""
    logprobs: Floats
    """Of the sampled ids when they were sampled; 0 for the others."""
    turn: Ints
    """The row of the table of actions that an id belongs to; -1 for ids that the model did not sample."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EpisodeTable:
    """A row for every episode of a batch, ``[episodes]`` each. Episodes that failed are not in it."""

    group: Ints
    """Equal for episodes that started alike: from the same seed of the same environment."""
    complete: Bools
    """Whether no episode of the group failed."""
    env: Strings
    """The id of its environment."""
    success: Bools
    """Whether it succeeded."""
    truncated: Bools
    """Whether it was truncated instead of terminated."""
    magnitude: Floats
    """The sum of the absolute rewards: the size that rounding errors of its return are relative to."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Episodes as `sequences`, and a table with a row for every action (`rewards`, …), ``[actions]`` each.

    An action is a turn, unless `gem_train.algorithms.actions.regroup` made it a token or an episode. The actions of an
    episode are consecutive rows, in order, and the sequences are in the order of their actions.
    """

    sequences: tuple[TokenSequence, ...]
    rewards: Floats
    episode: Ints
    """The row of `episodes` that the action belongs to."""
    cut: Bools
    """Whether the reply was cut off at a limit on its length."""
    trained: Bools
    """Whether the action is trained on, and counts in means over a batch or a group."""
    state_only: Bools
    """Whether the row stands for the state at which its episode was truncated by choice, without an action."""
    version: Ints
    """Of the weights that the reply was sampled under; -1 if it is not known, -2 if they changed meanwhile."""
    episodes: EpisodeTable
    """The table of episodes."""

    @classmethod
    def of(cls, sequences: Sequence[TokenSequence], rewards: Floats, episode: Ints, group: Ints | None = None) -> Self:
        """A batch of complete episodes of one environment, without replies that were cut.

        `group` is ``[episodes]``; by default each episode is a group of its own.
        """
        rows, count = len(rewards), int(episode.max(initial=-1)) + 1
        no, yes = np.zeros(rows, np.bool_), np.ones(rows, np.bool_)
        table = EpisodeTable(
            group=np.arange(count) if group is None else group,
            complete=np.ones(count, np.bool_),
            env=np.full(count, ""),
            success=np.zeros(count, np.bool_),
            truncated=np.zeros(count, np.bool_),
            magnitude=np.bincount(episode, np.abs(rewards), count).astype(np.float32),
        )
        return cls(tuple(sequences), rewards, episode, no, yes, no, np.full(rows, -1), table)

    @property
    def num_turns(self) -> int:
        """How many rows the table of actions has."""
        return len(self.rewards)


def collate(episodes: Iterable[Episode]) -> Batch:
    """Make a batch of the episodes that did not fail.

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
    for index, episode in enumerate(completed):
        sequences.extend(_sequences(episode, first_row=len(rewards)))
        rewards.extend(episode.rewards)
        owners.extend([index] * len(episode.turns))
        cut.extend(turn.completion.finish_reason != "stop" for turn in episode.turns)
        versions.extend(_version(turn.completion.weight_versions) for turn in episode.turns)
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
        episodes=_table(completed, [episode for episode in played if episode.failure is not None]),
    )


def _version(versions: Sequence[int]) -> int:
    if not versions:
        return -1
    return versions[0] if len(versions) == 1 else -2


def _table(completed: Sequence[Episode], failed: Sequence[Episode]) -> EpisodeTable:
    groups: dict[tuple[str, int], int] = {}
    incomplete = {(episode.id, episode.seed) for episode in failed}
    starts = [(episode.id, episode.seed) for episode in completed]
    return EpisodeTable(
        group=np.array([groups.setdefault(start, len(groups)) for start in starts], np.int64),
        complete=np.array([start not in incomplete for start in starts], np.bool_),
        env=np.array([episode.id for episode in completed], np.str_),
        success=np.array([episode.success for episode in completed], np.bool_),
        truncated=np.array([episode.truncated for episode in completed], np.bool_),
        magnitude=np.array([sum(map(abs, episode.rewards)) for episode in completed], np.float32),
    )


def _sequences(episode: Episode, first_row: int) -> Iterable[TokenSequence]:
    for segment in segments_of(episode.turns):
        read = len(segment.prompt_ids)
        turn = np.array([-1] * read + list(segment.turns), np.int64)
        yield TokenSequence(
            np.array(segment.prompt_ids + segment.response_ids, np.int64),
            turn >= 0,
            np.array([0.0] * read + list(segment.logprobs), np.float32),
            np.where(turn >= 0, turn + first_row, -1),
        )
