"""A key-value cache with a row per conversation, read in place.

A token's keys and values lie at the index that is its position, whatever the batch it was computed in, so rows grow
independently, and attention is `index <= position`. What lies behind the end of a row is overwritten before anything
attends to it.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

_LEAST = 64
"""Positions of the smallest cache."""


def positions_for(ids: int) -> int:
    """Number of positions with room when the longest conversation has so many ids."""
    positions = _LEAST
    while positions < ids:
        positions *= 2
    return positions


class RowCache(Cache):
    """The cache of every layer. Call `reserve` and `write_to` before each forward pass.

    Args:
        num_layers: of the model.
    """

    def __init__(self, num_layers: int) -> None:
        self._rows = [RowLayer() for _ in range(num_layers)]
        self.shape = (0, 0)
        """Numbers of rows, and of positions in each, with room."""
        super().__init__(layers=list(self._rows))

    def reserve(self, num_rows: int, num_positions: int) -> None:
        """Make room, so much more than before that a growing cache is copied rarely."""
        rows, positions = self.shape
        if num_rows > rows or num_positions > positions:
            self.shape = (
                max(num_rows, min(2 * rows, num_rows + 64)) if num_rows > rows else rows,
                positions_for(num_positions) if num_positions > positions else positions,
            )
            for layer in self._rows:
                layer.grow(*self.shape)

    def write_to(self, rows: Sequence[int], positions: Sequence[int], device: torch.device) -> None:
        """Say where the keys and values of the next forward pass belong: a row and a position for each of its ids."""
        capacity = self.shape[1]
        places = [row * capacity + position for row, position in zip(rows, positions, strict=True)]
        where = torch.tensor(places, device=device)
        for layer in self._rows:
            layer.where = where

    def copy(self, pairs: Sequence[tuple[int, int]], length: int) -> None:
        """Copy the first `length` positions of rows, all at once: ``(from, to)`` each."""
        self.reserve(1 + max(map(max, pairs)), length)
        for layer in self._rows:
            layer.copy([source for source, _ in pairs], [target for _, target in pairs], length)

    def clear(self) -> None:
        """Free the memory, and forget everything."""
        self.shape = (0, 0)
        for layer in self._rows:
            layer.free()


class RowLayer(CacheLayerMixin):
    """One layer of a `RowCache`: keys and values ``[rows, positions, heads, head_dim]``."""

    is_compileable = False
    is_sliding = False

    def __init__(self) -> None:
        super().__init__()
        self.where = torch.empty(0, dtype=torch.long)
        self._shape = (0, 0)
        self._keys = self._values = torch.empty(0)

    def grow(self, rows: int, positions: int) -> None:
        self._shape = (rows, positions)
        if self.is_initialized:
            self._keys, self._values = self._grown(self._keys), self._grown(self._values)

    def _grown(self, old: Tensor) -> Tensor:
        new = old.new_zeros(*self._shape, *old.shape[2:])
        new[: old.shape[0], : old.shape[1]] = old
        return new

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Allocate, now that shapes, type and device are known."""
        # Under autocast a norm leaves keys in float32; attention would round them to the type of the values anyway.
        self.dtype, self.device = value_states.dtype, value_states.device
        # Zeros, because what is masked must still be numbers.
        shape = (*self._shape, value_states.shape[1])
        self._keys = value_states.new_zeros(*shape, key_states.shape[-1])
        self._values = value_states.new_zeros(*shape, value_states.shape[-1])
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Store the new ``[1, heads, ids, head_dim]``, and return all keys and values, not copied."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        for store, new in ((self._keys, key_states), (self._values, value_states)):
            store.flatten(0, 1).index_copy_(0, self.where, new[0].transpose(0, 1).to(store.dtype))
        return self._keys, self._values

    def copy(self, sources: list[int], targets: list[int], length: int) -> None:
        if self.is_initialized:
            # The right side is a copy, so that rows may be exchanged.
            self._keys[targets, :length] = self._keys[sources, :length]
            self._values[targets, :length] = self._values[sources, :length]

    def free(self) -> None:
        self._keys = self._values = torch.empty(0)
        self._shape = (0, 0)
        self.is_initialized = False

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._shape[1], 0

    def get_seq_length(self) -> int:
        return 0

    def get_max_length(self) -> int:
        return -1
