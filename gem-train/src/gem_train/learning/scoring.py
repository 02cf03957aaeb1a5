"""Log-probabilities and entropies of sampled tokens under a model, with gradients where asked."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from gem_train.learning.attention import slices_of
from gem_train.learning.head import Head, Scorer, TokenScores, chunked_scores
from gem_train.learning.packing import Packed

_PLAIN: "WeakKeyDictionary[PreTrainedModel, bool]" = WeakKeyDictionary()


def score_tokens(
    model: PreTrainedModel,
    packed: Packed,
    temperature: float,
    *,
    entropy: bool = False,
    scorer: Scorer = chunked_scores,
) -> TokenScores:
    """Log-probability, and if asked for the entropy, of each sampled token under the distribution at `temperature`.

    Args:
        model: a causal language model.
        packed: the sequences.
        temperature: that logits are divided by.
        entropy: whether to compute it.
        scorer: what computes the scores from hidden states, if the model's head is a plain one.
    """
    # The hidden state at one position predicts the id at the next; the first id of a row is never a sampled one.
    wanted, context = packed.sampled.roll(-1, 1), packed.context
    own = context.slice(wanted)
    chosen = context.slice(packed.ids.roll(-1, 1))[own]
    if not is_plain(model):
        logits = forward(model, packed, logits_to_keep=own[0].nonzero()[:, 0]).logits[0]
        found = _stacked(_scores_of(logits, chosen, temperature, entropy=entropy))
        return TokenScores(*context.join(found, wanted))

    def score(hidden: Tensor) -> Tensor:
        head = model.get_output_embeddings()
        assert isinstance(head, nn.Linear)
        return _stacked(scorer(hidden[own], Head(head.weight, head.bias), chosen, temperature, entropy=entropy))

    # The head computes the scores itself, so that whatever a wrapper around the model does, it does as for logits.
    with _head_gives(model, score):
        found = forward(model, packed).logits
    return TokenScores(*context.join(found, wanted))


def is_plain(model: PreTrainedModel) -> bool:
    """True if the logits are what a linear layer gives, and nothing is done to them after it, such as a soft cap.

    Found out by numbers, once for a model: its head gives known numbers, and they must arrive.
    """
    if model not in _PLAIN:
        _PLAIN[model] = _find_plain(model)
    return _PLAIN[model]


@torch.no_grad()
def _find_plain(model: PreTrainedModel) -> bool:
    head = model.get_output_embeddings()
    if type(head) is not nn.Linear:
        return False
    probe = torch.linspace(-100, 100, len(head.weight), device=model.device)
    ids = torch.zeros(1, 2, dtype=torch.long, device=model.device)
    with _head_gives(model, lambda hidden: probe.expand(*hidden.shape[:-1], -1)):
        found = model(input_ids=ids, use_cache=False).logits
    return torch.equal(found.float(), probe.expand_as(found))


def forward(model: nn.Module, packed: Packed, **settings: Any) -> Any:
    """What `model` computes for this process's slice of a packed row."""
    # Without an attention mask, the sequences of a row are kept apart by their positions.
    ids, positions = map(packed.context.slice, (packed.ids, packed.positions))
    with slices_of(packed.positions, packed.context):
        return model(input_ids=ids, position_ids=positions, use_cache=False, **settings)


def _stacked(scores: TokenScores) -> Tensor:
    return torch.stack([part for part in scores if part is not None])


@contextmanager
def _head_gives(model: PreTrainedModel, function: Callable[[Tensor], Tensor]) -> Generator[None]:
    head = model.get_output_embeddings()
    assert isinstance(head, nn.Linear)
    head.__dict__["forward"] = function
    try:
        yield
    finally:
        del head.__dict__["forward"]  # which leaves that of the class


def _scores_of(logits: Tensor, chosen: Tensor, temperature: float, *, entropy: bool) -> TokenScores:
    logprobs = (logits.float() / temperature).log_softmax(-1)
    own = logprobs.gather(-1, chosen[:, None])[:, 0]
    return TokenScores(own, -(logprobs.exp() * logprobs).sum(-1) if entropy else None)
