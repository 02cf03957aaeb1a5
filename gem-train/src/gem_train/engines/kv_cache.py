"""A key-value cache with one row per conversation, kept from turn to turn.

Rows grow independently. A token's keys and values lie at the index that is its position, whatever the batch it was
computed in, so rows of unequal length need no shifting, and attention is `index <= position`. Padding at the end of a
short row writes behind the row's end; the next real token of that row overwrites it before anything can attend to it.
"""

from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin


class SlotCache(Cache):
    """The cache of every layer. Call `use` before each forward pass.

    Args:
        num_layers: of the model.
    """

    def __init__(self, num_layers: int) -> None:
        self._slot_layers = [SlotLayer() for _ in range(num_layers)]
        super().__init__(layers=list(self._slot_layers))

    def use(self, rows: Tensor, positions: Tensor) -> Tensor:
        """Say where the next forward pass reads and writes.

        Args:
            rows: ``[batch]`` int64, the row of each sequence of the batch.
            positions: ``[batch, length]`` int64, the position of each of its new tokens.

        Returns:
            The attention mask for it, ``[batch, 1, length, keys]`` bool.
        """
        keys = int(positions.max()) + 1
        num_rows = int(rows.max()) + 1
        for layer in self._slot_layers:
            layer.rows, layer.positions, layer.num_keys = rows, positions, keys
            layer.reserve(num_rows, keys)
        return (torch.arange(keys, device=positions.device) <= positions[:, :, None])[:, None]


class SlotLayer(CacheLayerMixin):
    """One layer of a `SlotCache`: keys and values ``[rows, capacity, heads, head_dim]``."""

    is_compileable = False
    is_sliding = False

    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.empty(0, dtype=torch.long)
        self.positions = torch.empty(0, 0, dtype=torch.long)
        self.num_keys = 0
        self._wanted = (0, 0)
        self._keys = self._values = torch.empty(0)

    def reserve(self, num_rows: int, num_keys: int) -> None:
        """Make room; capacities double, so that a growing cache is copied rarely."""
        rows, capacity = self._wanted
        if num_rows > rows or num_keys > capacity:
            self._wanted = (
                rows if num_rows <= rows else max(num_rows, 2 * rows),
                capacity if num_keys <= capacity else max(num_keys, 2 * capacity),
            )
            if self.is_initialized:
                self._keys, self._values = self._grown(self._keys), self._grown(self._values)

    def _grown(self, old: Tensor) -> Tensor:
        new = old.new_zeros(*self._wanted, *old.shape[2:])
        new[: old.shape[0], : old.shape[1]] = old
        return new

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Allocate, now that shapes, type and device are known."""
        _, heads, _, key_dim = key_states.shape
        # Under autocast, rotary embeddings leave keys in float32; attention computes in the type of the values.
        self._keys = value_states.new_zeros(*self._wanted, heads, key_dim)
        self._values = value_states.new_zeros(*self._wanted, heads, value_states.shape[-1])
        self.dtype, self.device = value_states.dtype, value_states.device
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Store the new ``[batch, heads, length, head_dim]``, and return all that these rows hold."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        where = self.rows[:, None], self.positions
        self._keys[where] = key_states.transpose(1, 2).to(self.dtype)
        self._values[where] = value_states.transpose(1, 2)
        keys, values = self._keys[:, : self.num_keys], self._values[:, : self.num_keys]
        return keys[self.rows].transpose(1, 2), values[self.rows].transpose(1, 2)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.num_keys, 0

    def get_seq_length(self) -> int:
        return self.num_keys

    def get_max_length(self) -> int:
        return -1
