"""Log-probabilities of chosen tokens from the last hidden states, without the logits of all tokens at once.

A vocabulary of 152,000 makes the logits of 8,192 tokens 5 GB, and a softmax with its gradient several times that. Here
they exist for one chunk of tokens at a time, and are computed again for the gradient.
"""

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 2**26
"""Logits that exist at once, by default: 256 MiB."""
_PIECES = 8
"""A chunk's temporary results have an eighth of its size."""


class TokenScores(NamedTuple):
    """Scores of the sampled tokens of a packed batch in row-major order, ``[tokens]`` float32 each."""

    logprobs: Tensor
    entropy: Tensor | None = None
    """Entropy of the distribution that a token was drawn from, in nats; None if it was not asked for."""


class Head(NamedTuple):
    """A linear layer from hidden states to logits."""

    weight: Tensor
    """``[vocabulary, hidden]``."""
    bias: Tensor | None
    """``[vocabulary]``."""


class Scorer(Protocol):
    """Function from hidden states to the scores of tokens: see `chunked_scores`."""

    def __call__(
        self, hidden: Tensor, head: Head, chosen: Tensor, temperature: float, *, entropy: bool = False
    ) -> TokenScores: ...


def chunked_scores(
    hidden: Tensor, head: Head, chosen: Tensor, temperature: float, *, entropy: bool = False, tokens: int | None = None
) -> TokenScores:
    """The log-probability of each chosen token, and the entropy of its distribution.

    Args:
        hidden: ``[tokens, hidden]``.
        head: what makes logits of them.
        chosen: ``[tokens]``, ids.
        temperature: that the logits are divided by.
        entropy: whether to compute it.
        tokens: in a chunk; by default as many as have `CHUNK` logits.
    """
    kind = hidden.device.type
    arithmetic = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
    size = tokens or max(1, CHUNK // len(head.weight))
    with torch.autocast(kind, enabled=False):
        logprobs, entropies = _Chunked.apply(
            hidden.to(arithmetic), head.weight, head.bias, chosen, temperature, entropy, size
        )
    return TokenScores(logprobs, entropies if entropy else None)


class _Chunked(torch.autograd.Function):
    """A function per chunk, so that a chunk's logits are freed before those of the next are made."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        chosen: Tensor,
        temperature: float,
        entropy: bool,
        size: int,
    ) -> tuple[Tensor, Tensor]:
        cast = weight.to(hidden.dtype)

        def scores(hidden: Tensor, chosen: Tensor) -> Tensor:
            """Rows: log-probability, logarithm of the normaliser, entropy."""
            logits = _logits(hidden, cast, bias, temperature)
            largest = logits.amax(-1, keepdim=True)
            logits -= largest
            own = logits.gather(-1, chosen[:, None])[:, 0]
            pieces = [_piece_scores(piece, entropy=entropy) for piece in _pieces(logits)]
            normaliser, entropies = (torch.cat(parts) for parts in zip(*pieces, strict=True))
            return torch.stack([own - normaliser, normaliser + largest[:, 0], entropies])

        parts = zip(hidden.split(size), chosen.split(size), strict=True)
        found = torch.cat([scores(*part) for part in parts], 1)
        logprobs, normaliser, entropies = found.unbind()
        ctx.save_for_backward(hidden, weight, bias, chosen, normaliser, entropies)
        ctx.settings = temperature, entropy, size
        return logprobs.clone(), entropies.clone()

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        hidden, weight, bias, chosen, normaliser, entropies = ctx.saved_tensors
        temperature, entropy, size = ctx.settings
        by_logprob, by_entropy = gradients
        cast = weight.to(hidden.dtype)
        for_hidden = torch.empty_like(hidden) if ctx.needs_input_grad[0] else None
        # In float32 also for weights in bfloat16: it is a sum over chunks, and autograd rounds it if it must.
        for_weight = torch.zeros_like(weight, dtype=torch.float32) if ctx.needs_input_grad[1] else None
        for_bias = torch.zeros_like(bias, dtype=torch.float32) if bias is not None and ctx.needs_input_grad[2] else None

        def add(part: slice) -> None:
            # These become the log-probabilities of all tokens, and then the gradient of the logits.
            logits = _logits(hidden[part], cast, bias, temperature)
            logits -= normaliser[part, None]
            columns = (column[part, None] for column in (by_logprob, by_entropy, entropies))
            for piece, own, spread, mean in zip(_pieces(logits), *map(_pieces, columns), strict=True):
                if entropy:
                    probabilities = piece.exp()
                    piece.add_(mean).mul_(spread).add_(own).mul_(probabilities.neg_())
                    del probabilities
                else:
                    piece.exp_().mul_(-own)
            logits.scatter_add_(-1, chosen[part, None], by_logprob[part, None])
            logits /= temperature
            if for_bias is not None:
                for_bias.add_(logits.sum(0))
            count = _pieces_of(hidden)
            for_part = torch.zeros_like(hidden[part], dtype=torch.float32)
            for index, (piece, rows) in enumerate(zip(logits.chunk(count, 1), cast.chunk(count), strict=True)):
                gradient = piece.to(hidden.dtype)
                for_part += gradient @ rows
                if for_weight is not None:
                    _add_product(for_weight.chunk(count)[index], gradient.T, hidden[part])
            if for_hidden is not None:
                for_hidden[part] = for_part

        with torch.autocast(hidden.device.type, enabled=False):
            for start in range(0, len(chosen), size):
                add(slice(start, start + size))
        return for_hidden, for_weight, for_bias, None, None, None, None


def _piece_scores(logits: Tensor, *, entropy: bool) -> tuple[Tensor, Tensor]:
    """Logarithm of the normaliser of logits whose largest is 0, and the entropy, or something."""
    exponentials = logits.exp()
    total = exponentials.sum(-1)
    normaliser = total.log()
    return normaliser, normaliser - exponentials.mul_(logits).sum(-1) / total if entropy else normaliser


def _logits(hidden: Tensor, weight: Tensor, bias: Tensor | None, temperature: float) -> Tensor:
    logits = torch.empty(len(hidden), len(weight), device=hidden.device)
    count = _pieces_of(hidden)
    for piece, rows in zip(logits.chunk(count, 1), weight.chunk(count), strict=True):
        if piece.dtype == hidden.dtype:
            torch.mm(hidden, rows.T, out=piece)
        else:
            piece.copy_(hidden @ rows.T)
    if bias is not None:
        logits += bias
    return logits if temperature == 1 else logits.div_(temperature)


def _pieces_of(hidden: Tensor) -> int:
    """Number of parts of the vocabulary that are multiplied one by one, so that copies in another type stay small."""
    return 1 if hidden.dtype == torch.float32 else _PIECES


def _pieces(rows: Tensor) -> tuple[Tensor, ...]:
    return rows.split(-(-len(rows) // _PIECES))


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    if total.dtype == left.dtype:
        total.addmm_(left, right)  # without another matrix of its size
    else:
        total += left @ right
