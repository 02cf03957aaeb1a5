"""Packing: sequences into micro-batches of a number of tokens, one behind the other, without padding.

Positions start at 0 with every sequence, which keeps the sequences of a row apart: see `gem_train.learning.attention`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from gem_train.batch import TokenSequence
from gem_train.distributed.context import ONE_PROCESS, Context

_CLOSE = 100
"""Rows are about equally long if their limit is within one part of so many of the least."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Sequences one behind the other, the longest first, as tensors of one row: ``[1, tokens]``."""

    ids: Tensor
    positions: Tensor
    sampled: Tensor
    turn: Tensor
    index: Tensor
    """Place of the id among all sequences that were packed together, one after the other, as they were given."""
    context: Context = ONE_PROCESS
    """The processes that compute the row, each a slice of it."""

    def to(self, device: torch.device) -> "Packed":
        """The same on another device."""
        columns = (self.ids, self.positions, self.sampled, self.turn, self.index)
        return Packed(*(tensor.to(device) for tensor in columns), context=self.context)


def pack(
    sequences: Sequence[TokenSequence], tokens: int, multiple: int = 1, context: Context = ONE_PROCESS
) -> list[Packed]:
    """Put `sequences` into rows of at most `tokens` ids in each process; a longer sequence gets a row to itself.

    First fit by decreasing length: at most 22% more rows than the best packing has (Johnson 1973), in practice 1%. With
    `multiple` the number of rows is one of it, if there are enough sequences, and they are about equally long: the
    least limit is taken that needs no more of them (MULTIFIT, Coffman, Garey and Johnson 1978).
    """
    lengths = [len(sequence) for sequence in sequences]
    tokens *= context.size
    rows = _first_fit(lengths, tokens)
    most = -(-len(rows) // multiple) * multiple
    low, high = sum(lengths) // max(1, most), min(tokens, sum(lengths))
    while multiple > 1 and high - low > 1 + high // _CLOSE:
        middle = (low + high) // 2
        found = _first_fit(lengths, middle)
        if len(found) <= most:
            rows, high = found, middle
        else:
            low = middle
    starts = list(accumulate(lengths, initial=0))
    return [_row([sequences[number] for number in row], [starts[number] for number in row], context) for row in rows]


def _first_fit(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """The sequences of each row, by their numbers."""
    rows: list[list[int]] = []
    free: list[int] = []
    # Sorting is stable, so equal lengths keep their order and the result is the same every time.
    for number in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        length = lengths[number]
        row = next((i for i, left in enumerate(free) if left >= length), None)
        if row is None:
            rows.append([])
            free.append(max(tokens, length))
            row = len(rows) - 1
        rows[row].append(number)
        free[row] -= length
    return rows


def _row(sequences: Sequence[TokenSequence], starts: Sequence[int], context: Context) -> Packed:
    positions = [np.arange(len(sequence)) for sequence in sequences]
    columns = (
        [sequence.ids for sequence in sequences],
        positions,
        [sequence.sampled for sequence in sequences],
        [sequence.turn for sequence in sequences],
        [start + own for start, own in zip(starts, positions, strict=True)],
    )
    return Packed(*(torch.from_numpy(np.concatenate(column))[None] for column in columns), context=context)
