"""Attention over packed rows without a dense mask: each sequence of a row attends to itself alone.

It is registered with transformers under `NAME`. A row of 8,192 ids that holds a hundred sequences then costs what the
sequences cost one by one, not the square of the row.
"""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from gem.errors import ConfigError
from gem_train.distributed.context import Context
from gem_train.learning.blocks import Blocks
from gem_train.learning.kernels import HALF, Kernel, sdpa

NAME = "gem_packed"
"""Name of the implementation with the kernel `sdpa`, for `set_attn_implementation`."""


class _Row(NamedTuple):
    starts: list[int]
    context: Context


_ROW: ContextVar[_Row | None] = ContextVar("row", default=None)


@contextmanager
def slices_of(positions: Tensor, context: Context) -> Generator[None]:
    """Let passes through a model be over slices of a row that the processes of `context` compute together.

    Args:
        positions: of the whole row, ``[1, ids]``.
        context: the processes; if there is one, its slice is the row.
    """
    before = _ROW.set(None if context.size == 1 else _Row(context.starts(positions), context))
    try:
        yield
    finally:
        _ROW.reset(before)


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
    local_size: int | None = None,
    **kwargs: Any,
) -> Blocks | Tensor | None:
    """The sequences of a mask that transformers describes, in place of that mask.

    With a mask of padding or with a cache, it is the mask of `sdpa`. Within `slices_of` they are the whole row's.
    """
    if (row := _ROW.get()) is not None:
        return Blocks(row.starts, local_size, device, row.context)
    if attention_mask is not None or q_length != kv_length or q_offset or kv_offset or kwargs.get("use_vmap"):
        sizes = batch_size, q_length, kv_length, q_offset, kv_offset
        return sdpa_mask(*sizes, mask_function, attention_mask, device=device, local_size=local_size, **kwargs)
    rows = torch.arange(batch_size, device=device)[:, None]
    columns = torch.arange(1, q_length, device=device)[None]
    # A sequence begins where an id does not attend to the one before it.
    joined = torch.zeros(batch_size, q_length, dtype=torch.bool, device=device)
    joined[:, 1:] = mask_function(rows, 0, columns, columns - 1)
    begins: list[int] = (~joined).flatten().nonzero()[:, 0].tolist()
    return Blocks([*begins, batch_size * q_length], local_size, device)


def packed_attention(
    kernel: Kernel,
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
        kernel: what computes it in half precision; in float32 it is `gem_train.learning.kernels.sdpa`.
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
        ConfigError: the model's attention is not the plain one, or the processes of a row cannot share its heads.
    """
    special = [name for name in ("softcap", "s_aux", "position_bias") if kwargs.get(name) is not None]
    if special or dropout:
        raise ConfigError(f"the attention of this model has {special or 'dropout'}, which packed attention leaves out")
    if not isinstance(attention_mask, Blocks):
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    rows, heads, length, _ = query.shape
    # Under autocast, norms and rotations leave queries and keys in float32, which PyTorch's own attention rounds.
    kind = query.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else query.dtype
    context = attention_mask.context
    context.check_heads(heads)
    query, key, value = (
        context.to_heads(tensor.to(dtype).transpose(1, 2).flatten(0, 1)) for tensor in (query, key, value)
    )
    attend = kernel if dtype in HALF else sdpa
    found = context.to_slice(attend(query, key, value, attention_mask, scaling))
    return found.view(rows, length, heads, -1), None


def register(kernel: Kernel, name: str) -> str:
    """Make packed attention with this kernel known to transformers; returns its name there."""
    # A name with "flash" in it would be taken for one of transformers' own.
    known = NAME if kernel is sdpa else f"{NAME}_{re.sub('[^a-z0-9]+', '_', name.lower().replace('flash', 'f'))}"
    AttentionInterface.register(known, partial(packed_attention, kernel))
    AttentionMaskInterface.register(known, packed_mask)
    return known


register(sdpa, "sdpa")
