"""From episodes to the arrays that a learner reads: one sequence of ids per episode, and the turns in a table.

An episode is *one* sequence, of which only the sampled ids are trained on, so its cost grows linearly with its turns.
(A segment that a chat template restarted is a sequence of its own.)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gem.errors import NothingToLearn
from gem.rollout.transcript import Episode

Ints = NDArray[np.int64]
"""Ids, or rows of a table."""
Floats = NDArray[np.float32]
"""Rewards, log-probabilities, returns, advantages."""
Bools = NDArray[np.bool_]
"""Masks."""


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """The `ids` that the engine read and sampled in one segment of one episode. All arrays are ``[length]``."""

    ids: Ints
    sampled: Bools
    """Which ids the model sampled; only these are trained on."""
    logprobs: Floats
    """Of the sampled ids when they were sampled; 0 for the others."""
    turn: Ints
    """The row of the turn table that a sampled id belongs to; -1 for the others."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Batch:
    """Episodes as `sequences`, and a table with a row for every turn (its `rewards`, …), ``[turns]`` each.

    The turns of an episode are consecutive rows, in order.
    """

    sequences: tuple[TokenSequence, ...]
    rewards: Floats
    episode: Ints
    """Which episode of the batch the turn belongs to."""

    @property
    def num_turns(self) -> int:
        """How many turns there are."""
        return len(self.rewards)


def collate(episodes: Iterable[Episode]) -> Batch:
    """Make a batch of the episodes that did not fail.

    Raises:
        NothingToLearn: all of them failed, or none has a turn.
    """
    sequences: list[TokenSequence] = []
    rewards: list[float] = []
    owners: list[int] = []
    played = list(episodes)
    completed = [episode for episode in played if episode.failure is None]
    if not completed:
        first = next((episode.failure.error for episode in played if episode.failure), "no episode was played")
        raise NothingToLearn(f"all {len(played)} episodes of a batch failed, the first of them with {first}")
    for index, episode in enumerate(completed):
        sequences.extend(_sequences(episode, first_row=len(rewards)))
        rewards.extend(episode.rewards)
        owners.extend([index] * len(episode.turns))
    if not sequences:
        raise NothingToLearn(f"no episode of a batch of {len(played)} has a turn: nothing could be said in any of them")
    return Batch(tuple(sequences), np.array(rewards, np.float32), np.array(owners, np.int64))


def _sequences(episode: Episode, first_row: int) -> Iterable[TokenSequence]:
    pieces: list[tuple[Sequence[int], Sequence[float], int]] = []
    for row, turn in enumerate(episode.turns, start=first_row):
        completion = turn.completion
        if completion.new_segment and pieces:
            yield _sequence(pieces)
            pieces = []
        pieces.append((completion.prompt_ids, (), -1))
        pieces.append((completion.ids, completion.logprobs, row))
    if pieces:  # an episode may end before its first turn
        yield _sequence(pieces)


def _sequence(pieces: list[tuple[Sequence[int], Sequence[float], int]]) -> TokenSequence:
    turn = np.concatenate([np.full(len(ids), row, np.int64) for ids, _, row in pieces])
    logprobs = np.concatenate(
        [np.array(logprobs if row >= 0 else [0.0] * len(ids), np.float32) for ids, logprobs, row in pieces]
    )
    ids = np.concatenate([np.array(ids, np.int64) for ids, _, _ in pieces])
    return TokenSequence(ids, turn >= 0, logprobs, turn)
