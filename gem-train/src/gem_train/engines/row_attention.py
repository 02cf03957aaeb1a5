"""Attention of new ids to the rows of a `RowCache`, which are read in place.

The new ids of all conversations are one sequence for the rest of the model, without padding: a conversation that reads
its prompt and one that samples its next token go through it together. Here they part: conversations with equally many
new ids are computed together, each on the keys of its own row.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PretrainedConfig

from gem.errors import ConfigError

NAME = "gem_rows"
"""Name of the implementation, for the `_attn_implementation` of a model's config."""

_SHORT = 64
"""Up to so many new ids are computed together, padded: one more call costs more than the padding."""
_DENSE = 0.75
"""Rows are read in place if at least this share of those up to the last is wanted; otherwise they are gathered."""


class Chunk(NamedTuple):
    """New `ids` of one conversation, from the position `start` of the row `row`."""

    row: int
    start: int
    ids: Sequence[int]
    ends: bool
    """True if the logits behind the last of them are wanted."""

    @property
    def length(self) -> int:
        """Number of ids."""
        return len(self.ids)

    @property
    def end(self) -> int:
        """The position behind the last of them."""
        return self.start + len(self.ids)


class Group:
    """Chunks that are computed together, padded to the longest.

    Args:
        chunks: sorted by row.
        first: the index of their first id in the batch.
        device: of the model.
    """

    def __init__(self, chunks: Sequence[Chunk], first: int, device: torch.device) -> None:
        total = sum(chunk.length for chunk in chunks)
        self.tokens = slice(first, first + total)
        self.length = max(chunk.length for chunk in chunks)
        self.keys = max(chunk.end for chunk in chunks)
        span = chunks[-1].row + 1
        in_place = len(chunks) >= _DENSE * span
        self.number = span if in_place else len(chunks)
        self.rows = None if in_place else torch.tensor([chunk.row for chunk in chunks], device=device)
        """Rows that are gathered; None if the first ones are read in place."""
        places = [chunk.row if in_place else index for index, chunk in enumerate(chunks)]
        self.spread: Tensor | None = None
        """Id that each place of the padded group computes; None if nothing is padded."""
        self.back: Tensor | None = None
        """Place of each id."""
        if total < self.number * self.length:
            spread, back = torch.zeros(self.number * self.length, dtype=torch.long), []
            for chunk, place in zip(chunks, places, strict=True):
                back.extend(range(place * self.length, place * self.length + chunk.length))
            spread[back] = torch.arange(total)
            self.spread, self.back = spread.to(device), torch.tensor(back, device=device)
        self.causal = self.length > 1 and all(chunk.start == 0 for chunk in chunks)
        """True if the chunks are the beginnings of their rows, so that a mask is not needed."""
        self._starts: Tensor | None = None
        if not self.causal and not all(chunk.start + self.length == self.keys for chunk in chunks):
            starts = torch.zeros(self.number, dtype=torch.long)
            starts[places] = torch.tensor([chunk.start for chunk in chunks])
            self._starts = starts.to(device)
        elif self.length > 1:
            self._starts = torch.full((self.number,), self.keys - self.length, device=device)
        self._mask: Tensor | None = None

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, scaling: float | None) -> Tensor:
        """The attention of the ids ``[ids, heads, head_dim]`` of this group to all of their rows, likewise."""
        if self.spread is not None:
            query = query[self.spread]
        heads, kv_heads = query.shape[1], keys.shape[2]
        shared = heads // kv_heads
        # Query heads that share keys are queries of one head, so the keys need not be repeated.
        q = query.view(self.number, self.length, kv_heads, shared, -1).permute(0, 2, 3, 1, 4).flatten(2, 3)
        k, v = (self._read(tensor).transpose(1, 2) for tensor in (keys, values))
        if self.causal:
            q = q.unflatten(2, (shared, self.length)).flatten(1, 2)
            found = nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=scaling, enable_gqa=shared > 1
            ).unflatten(1, (kv_heads, shared))
        else:
            mask = self._mask_of(shared, q.dtype)
            found = nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scaling)
            found = found.unflatten(2, (shared, self.length))
        result = found.permute(0, 3, 1, 2, 4).reshape(self.number * self.length, heads, -1)
        return result if self.back is None else result[self.back]

    def _read(self, stored: Tensor) -> Tensor:
        if self.rows is None:
            return stored[: self.number, : self.keys]
        return stored[:, : self.keys][self.rows]

    def _mask_of(self, shared: int, dtype: torch.dtype) -> Tensor | None:
        """Mask that is added to the scores, ``[number, 1, shared * length, keys]``; made once for all layers."""
        if self._starts is None:
            return None
        if self._mask is None or self._mask.dtype != dtype:
            device = self._starts.device
            positions = self._starts[:, None] + torch.arange(self.length, device=device)
            hidden = torch.arange(self.keys, device=device) > positions[:, :, None]
            mask = torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(hidden, -torch.inf)
            self._mask = mask[:, None].expand(-1, shared, -1, -1).flatten(1, 2)[:, None]
        return self._mask


_groups: ContextVar[Sequence[Group]] = ContextVar("groups of the batch")


def grouped(chunks: Iterable[Chunk], device: torch.device) -> tuple[list[Chunk], list[Group]]:
    """Chunks in the order of the batch, and the groups that they are computed in."""
    kinds: dict[tuple[int, bool], list[Chunk]] = {}
    for chunk in chunks:
        size = 0 if chunk.length == 1 else max(_SHORT - 1, chunk.length - 1).bit_length()
        kinds.setdefault((size, chunk.start == 0), []).append(chunk)
    ordered: list[Chunk] = []
    groups: list[Group] = []
    first = 0
    for together in kinds.values():
        together.sort(key=lambda chunk: chunk.row)
        group = Group(together, first, device)
        ordered += together
        groups.append(group)
        first = group.tokens.stop
    return ordered, groups


@contextmanager
def attention_in_rows(config: PretrainedConfig, groups: Sequence[Group]) -> Generator[None]:
    """Let the model of `config` compute attention in these groups; outside, it does so as before."""
    before = config._attn_implementation  # pyright: ignore[reportPrivateUsage]
    # Not every architecture passes its attention what the model is called with.
    token = _groups.set(groups)
    config._attn_implementation = NAME  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        config._attn_implementation = before  # pyright: ignore[reportPrivateUsage]
        _groups.reset(token)


def row_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """The attention that transformers calls; arguments as of `gem_train.learning.attention.packed_attention`, except:

    Args:
        query: ``[1, heads, ids, head_dim]``.
        key, value: every row of the cache, ``[rows, positions, heads, head_dim]``.
        attention_mask: none; the groups know what each id attends to.

    Returns:
        ``[1, ids, heads, head_dim]``, and no weights.

    Raises:
        ConfigError: the model's attention is not the plain one.
    """
    special = [name for name in ("softcap", "s_aux", "position_bias") if kwargs.get(name) is not None]
    if special:
        raise ConfigError(
            f"the engine hf leaves out {', '.join(special)}, which the attention of this model has; "
            "choose another engine or another model"
        )
    flat = query[0].transpose(0, 1)
    results = [group.attend(flat[group.tokens], key, value, scaling) for group in _groups.get()]
    return (results[0] if len(results) == 1 else torch.cat(results))[None], None


AttentionInterface.register(NAME, row_attention)
