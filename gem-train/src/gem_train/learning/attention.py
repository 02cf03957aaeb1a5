"""Attention over packed rows without a dense mask: each sequence of a row attends to itself alone.

It is registered with transformers under `NAME`. A row of 8,192 ids that holds a hundred sequences then costs what the
sequences cost one by one, not the square of the row.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from gem.errors import ConfigError

NAME = "gem_packed"
"""Of the implementation, for `set_attn_implementation`."""

_SIMILAR = 0.8
"""Sequences of at least this share of the longest one's length are computed together, padded to its length."""
_SHORT = 32
"""So are all sequences up to this length: one more call costs more than the padding."""
_FLASH_TYPES = torch.bfloat16, torch.float16


class Blocks:
    """The sequences of packed rows, in place of an attention mask.

    Args:
        starts: where each sequence begins in the rows one behind the other, and where the last one ends.
        window: how many ids a token attends to at most, itself included; None for all of its sequence before it.
        device: of the rows.
    """

    def __init__(self, starts: Sequence[int], window: int | None, device: torch.device) -> None:
        self.starts = starts
        self.window = window
        self.longest = max(map(_length, pairwise(starts)))
        self.ends = torch.tensor(starts, dtype=torch.int32, device=device)
        """`starts` as the variable-length kernels read them."""
        self.groups: list[tuple[Tensor, int, int]] = []
        """Sequences of similar length: which ids to read, ``[number * length]``, their number, and the length."""
        back = torch.empty(starts[-1], dtype=torch.long)
        offset = 0
        for group in _grouped(sorted(pairwise(starts), key=_length, reverse=True)):
            first, end = torch.tensor(group).T[:, :, None]
            steps = torch.arange(int((end - first).max()))
            # Behind a shorter sequence its last id is read again. No result before it depends on that.
            read = (first + steps).minimum(end - 1)
            inside = first + steps < end
            back[read[inside]] = offset + torch.arange(read.numel()).view_as(read)[inside]
            self.groups.append((read.flatten().to(device), len(group), len(steps)))
            offset += read.numel()
        self.back = back.to(device)
        """Where the result of each id lies in the results of the groups, one behind the other."""


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _grouped(spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Spans, longest first, with those of similar length together."""
    groups: list[list[tuple[int, int]]] = []
    least = 0.0
    for span in spans:
        length = _length(span)
        if not groups or length < least:
            groups.append([])
            least = _SIMILAR * length if length > _SHORT else 0
        groups[-1].append(span)
    return groups


def packed_mask(
    *,
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int,
    kv_offset: int,
    mask_function: Callable[..., Tensor],
    attention_mask: Tensor | None,
    device: torch.device,
    **kwargs: Any,
) -> Blocks | Tensor | None:
    """What transformers asks for in place of a mask: the sequences, read off the mask that it describes.

    With a mask of padding or with a cache, it is the mask of `sdpa`.
    """
    if attention_mask is not None or q_length != kv_length or q_offset or kv_offset or kwargs.get("use_vmap"):
        return sdpa_mask(
            batch_size,
            q_length,
            kv_length,
            q_offset,
            kv_offset,
            mask_function,
            attention_mask,
            device=device,
            **kwargs,
        )
    rows = torch.arange(batch_size, device=device)[:, None]
    columns = torch.arange(1, q_length, device=device)[None]
    # A sequence begins where an id does not attend to the one before it.
    joined = torch.zeros(batch_size, q_length, dtype=torch.bool, device=device)
    joined[:, 1:] = mask_function(rows, 0, columns, columns - 1)
    begins: list[int] = (~joined).flatten().nonzero()[:, 0].tolist()
    starts = [*begins, batch_size * q_length]
    first, end = max(pairwise(starts), key=_length)
    row, column = divmod(first, q_length)
    places = torch.arange(column, column + end - first, device=device)
    # The last id of the longest sequence attends to all of it, or to a window.
    seen = int(mask_function(torch.tensor(row, device=device), 0, places[-1], places).sum())
    return Blocks(starts, seen if seen < len(places) else None, device)


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Blocks | Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention of each sequence of `Blocks` to itself; with another mask, that of `sdpa`.

    Args:
        module: the layer.
        query: ``[rows, heads, length, head_dim]``, like `key` and `value`, which may have fewer heads.
        key: see `query`.
        value: see `query`.
        attention_mask: what `packed_mask` made.
        dropout: must be 0.
        scaling: of the scores.
        kwargs: what else transformers passes.

    Returns:
        ``[rows, length, heads, head_dim]``, and no weights.

    Raises:
        ConfigError: the model's attention is not the plain one.
    """
    special = [name for name in ("softcap", "s_aux", "position_bias") if kwargs.get(name) is not None]
    if special or dropout:
        raise ConfigError(f"the attention of this model has {special or 'dropout'}, which packed attention leaves out")
    if not isinstance(attention_mask, Blocks):
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    rows, heads, length, _ = query.shape
    query, key, value = (tensor.transpose(1, 2).flatten(0, 1) for tensor in (query, key, value))
    attend = _varlen if query.is_cuda and query.dtype in _FLASH_TYPES else _by_length
    return attend(query, key, value, attention_mask, scaling).view(rows, length, heads, -1), None


def _varlen(query: Tensor, key: Tensor, value: Tensor, blocks: Blocks, scaling: float | None) -> Tensor:
    """PyTorch's variable-length flash attention; ``[ids, heads, head_dim]`` each."""
    # Imported here: not every PyTorch has it, and only GPUs need it.
    from torch.nn.attention.varlen import varlen_attn

    window = (-1, 0) if blocks.window is None else (blocks.window - 1, 0)
    grouped = query.shape[1] != key.shape[1]
    ends, longest = blocks.ends, blocks.longest
    result = varlen_attn(
        query, key, value, ends, ends, longest, longest, scale=scaling, window_size=window, enable_gqa=grouped
    )
    assert isinstance(result, Tensor)
    return result


def _by_length(query: Tensor, key: Tensor, value: Tensor, blocks: Blocks, scaling: float | None) -> Tensor:
    """The same on any device and in any type: one call for all sequences of similar length."""
    results: list[Tensor] = []
    for read, number, length in blocks.groups:
        q, k, v = (tensor[read].unflatten(0, (number, length)).transpose(1, 2) for tensor in (query, key, value))
        mask = None
        if blocks.window is not None and length > blocks.window:
            places = torch.arange(length, device=query.device)
            back = places[:, None] - places
            mask = (back >= 0) & (back < blocks.window)
        result = nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=mask is None, scale=scaling, enable_gqa=q.shape[1] != k.shape[1]
        )
        results.append(result.transpose(1, 2).flatten(0, 1))
    return torch.cat(results)[blocks.back]


AttentionInterface.register(NAME, packed_attention)
AttentionMaskInterface.register(NAME, packed_mask)
