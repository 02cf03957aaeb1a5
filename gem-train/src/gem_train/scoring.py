"""Log-probabilities and entropies of sampled tokens under a model, with gradients where asked."""

from typing import NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem_train.packing import Packed


class TokenScores(NamedTuple):
    """For the sampled tokens of a packed batch in row-major order, ``[tokens]`` each."""

    logprobs: Tensor
    entropy: Tensor


def score_tokens(model: PreTrainedModel, packed: Packed, temperature: float) -> TokenScores:
    """Log-probability and entropy of each sampled token, under the distribution at `temperature`."""
    # The logits at one position predict the id at the next. They are computed only for columns that some row needs.
    wanted = packed.sampled[:, 1:]
    columns = wanted.any(0).nonzero()[:, 0]
    # Without an attention mask, transformers keeps the sequences of a row apart by their positions.
    logits = model(input_ids=packed.ids, position_ids=packed.positions, use_cache=False, logits_to_keep=columns).logits[
        wanted[:, columns]
    ]
    logprobs = (logits.float() / temperature).log_softmax(-1)
    chosen = packed.ids[:, 1:][wanted]
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    return TokenScores(logprobs.gather(-1, chosen[:, None])[:, 0], entropy)


def all_token_loss(model: PreTrainedModel, packed: Packed) -> Tensor:
    """The mean negative log-likelihood of every id except the first of each sequence."""
    logits = model(input_ids=packed.ids, position_ids=packed.positions, use_cache=False).logits[:, :-1]
    inside = packed.positions[:, 1:] > 0
    return torch.nn.functional.cross_entropy(logits[inside].float(), packed.ids[:, 1:][inside])
