"""Packing: sequences of unequal length into rows of about equal length, with little padding.

Positions start at 0 with every sequence. From these a transformers model builds the block-diagonal mask (or the
variable-length attention call) that keeps the sequences of a row apart.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gem_train.batch import TokenSequence


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows of sequences, as tensors ``[rows, length]``.

    Padding has position 0, which makes each padded id a sequence of its own.
    """

    ids: Tensor
    positions: Tensor
    sampled: Tensor
    logprobs: Tensor
    turn: Tensor
    index: Tensor
    """Where the id is if the sequences that were packed are put one after the other; 0 for padding."""

    def split(self, rows: int) -> "Iterator[Packed]":
        """The same in parts of at most `rows` rows."""
        for start in range(0, len(self.ids), rows):
            part = slice(start, start + rows)
            yield Packed(*(tensor[part] for tensor in self._tensors()))

    def to(self, device: torch.device) -> "Packed":
        """The same on another device."""
        return Packed(*(tensor.to(device) for tensor in self._tensors()))

    def _tensors(self) -> tuple[Tensor, ...]:
        return self.ids, self.positions, self.sampled, self.logprobs, self.turn, self.index


def pack(sequences: Sequence[TokenSequence], row_tokens: int) -> Packed:
    """Put `sequences` into rows of at most `row_tokens` ids each; a longer sequence gets a row to itself.

    First fit by decreasing length: at most 22% more rows than the best packing has (Johnson 1973), in practice 1%.
    """
    rows: list[list[tuple[TokenSequence, int]]] = []
    free: list[int] = []
    # Sorting is stable, so equal lengths keep their order and the result is the same every time.
    starts = itertools.accumulate(map(len, sequences), initial=0)
    for sequence, at in sorted(zip(sequences, starts, strict=False), key=lambda each: len(each[0]), reverse=True):
        row = next((i for i, left in enumerate(free) if left >= len(sequence)), None)
        if row is None:
            rows.append([])
            free.append(max(row_tokens, len(sequence)))
            row = len(rows) - 1
        rows[row].append((sequence, at))
        free[row] -= len(sequence)
    shape = len(rows), max(sum(len(sequence) for sequence, _ in row) for row in rows)
    ids = np.zeros(shape, np.int64)
    positions = np.zeros(shape, np.int64)
    sampled = np.zeros(shape, np.bool_)
    logprobs = np.zeros(shape, np.float32)
    turn = np.full(shape, -1, np.int64)
    index_of = np.zeros(shape, np.int64)
    for index, row in enumerate(rows):
        start = 0
        for sequence, at in row:
            place = index, slice(start, start + len(sequence))
            ids[place], sampled[place] = sequence.ids, sequence.sampled
            logprobs[place], turn[place] = sequence.logprobs, sequence.turn
            positions[place] = np.arange(len(sequence))
            index_of[place] = at + positions[place]
            start += len(sequence)
    return Packed(*(torch.from_numpy(array) for array in (ids, positions, sampled, logprobs, turn, index_of)))
