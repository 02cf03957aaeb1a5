"""The sequences of packed rows, in place of an attention mask."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from gem_train.distributed.context import ONE_PROCESS, Context

_SIMILAR = 0.8
"""Sequences of at least this share of the longest one's length are computed together, padded to its length."""
_SHORT = 32
"""Length up to which all sequences are grouped: one more call costs more than the padding."""


class Grouped(NamedTuple):
    """The sequences in groups of similar length."""

    groups: list[tuple[Tensor, int, int]]
    """Ids to read, ``[number * length]``, number of sequences and their length, of each group."""
    back: Tensor
    """Place of each id's result in the results of the groups, one behind the other."""


class Blocks:
    """Bounds of the sequences of packed rows.

    Args:
        starts: where each sequence begins in the rows one behind the other, and where the last one ends.
        window: how many ids a token attends to at most, itself included; None for all of its sequence before it, as it
            becomes if no sequence is longer.
        device: of the rows.
        context: the processes that compute the rows, each a slice of them.
    """

    def __init__(
        self, starts: Sequence[int], window: int | None, device: torch.device, context: Context = ONE_PROCESS
    ) -> None:
        self.starts = starts
        self.context = context
        self.longest = max(map(length_of, pairwise(starts)))
        self.window = window if window is not None and window < self.longest else None
        self.device = device

    @cached_property
    def ends(self) -> Tensor:
        """`starts` as the variable-length kernels read them."""
        return torch.tensor(self.starts, dtype=torch.int32, device=self.device)

    @cached_property
    def grouped(self) -> Grouped:
        """The sequences as kernels read them that want all of a call to have one length."""
        groups: list[tuple[Tensor, int, int]] = []
        back = torch.empty(self.starts[-1], dtype=torch.long)
        offset = 0
        for group in _by_similar_length(sorted(pairwise(self.starts), key=length_of, reverse=True)):
            first, end = torch.tensor(group).T[:, :, None]
            steps = torch.arange(int((end - first).max()))
            # Behind a shorter sequence its last id is read again. No result before it depends on that.
            read = (first + steps).minimum(end - 1)
            inside = first + steps < end
            back[read[inside]] = offset + torch.arange(read.numel()).view_as(read)[inside]
            groups.append((read.flatten().to(self.device), len(group), len(steps)))
            offset += read.numel()
        return Grouped(groups, back.to(self.device))


def length_of(span: tuple[int, int]) -> int:
    """Number of ids between two places."""
    return span[1] - span[0]


def _by_similar_length(spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Spans, longest first, with those of similar length together."""
    groups: list[list[tuple[int, int]]] = []
    least = 0.0
    for span in spans:
        length = length_of(span)
        if not groups or length < least:
            groups.append([])
            least = _SIMILAR * length if length > _SHORT else 0
        groups[-1].append(span)
    return groups
