"""Scores of tokens equal those from all logits, with gradients, in a fraction of the memory."""

import math
from collections.abc import Callable
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from transformers import PreTrainedModel

from gem_train.batch import TokenSequence
from gem_train.learning.head import Head, TokenScores, chunked_scores
from gem_train.learning.liger import find_scorer
from gem_train.learning.packing import pack
from gem_train.learning.scoring import is_plain, score_tokens

MakeModel = Callable[..., PreTrainedModel]
SCORERS = ["chunked", *(["liger"] if find_spec("liger_kernel") else [])]
"""Of the setting optim.log_probs: those that can be imported here. liger-kernel needs Triton, which is large."""


def from_logits(logits: Tensor, chosen: Tensor, temperature: float) -> TokenScores:
    logprobs = (logits / temperature).log_softmax(-1)
    return TokenScores(logprobs.gather(-1, chosen[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(-1))


def gradients(scores: TokenScores, of: list[Tensor]) -> list[Tensor]:
    weights = torch.randn(2, len(scores.logprobs), generator=torch.Generator().manual_seed(3))
    loss = (scores.logprobs * weights[0]).sum()
    if scores.entropy is not None:
        loss = loss + (scores.entropy * weights[1]).sum()
    return list(torch.autograd.grad(loss, of))


@pytest.mark.parametrize("tokens", [1, 7, 50, None])
@pytest.mark.parametrize("entropy", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_scores_in_chunks_are_those_of_all_logits(tokens: int | None, entropy: bool, biased: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(50, 16, generator=generator, requires_grad=True)
    weight = torch.randn(97, 16, generator=generator, requires_grad=True)
    bias = torch.randn(97, generator=generator, requires_grad=True) if biased else None
    chosen = torch.randint(97, (50,), generator=generator)
    inputs = [tensor for tensor in (hidden, weight, bias) if tensor is not None]
    expected = from_logits(torch.nn.functional.linear(hidden, weight, bias), chosen, 0.7)
    if not entropy:
        expected = TokenScores(expected.logprobs)
    found = chunked_scores(hidden, Head(weight, bias), chosen, 0.7, entropy=entropy, tokens=tokens)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        assert one is None or other is None or (one - other).abs().max() < 1e-5
    for one, other in zip(gradients(found, inputs), gradients(expected, inputs), strict=True):
        assert (one - other).abs().max() < 1e-5 * other.abs().max()


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("entropy", [False, True])
@pytest.mark.parametrize("autocast", [False, True])
def test_every_scorer_computes_the_scores_of_all_logits(scorer: str, entropy: bool, autocast: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(600, 16, generator=generator, requires_grad=True)
    weight = torch.randn(97, 16, generator=generator, requires_grad=True)
    chosen = torch.randint(97, (600,), generator=generator)
    score = find_scorer(scorer, hidden.device, half=autocast)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        expected = from_logits(torch.nn.functional.linear(hidden, weight).float(), chosen, 0.7)
        found = score(hidden, Head(weight, None), chosen, 0.7, entropy=entropy)
    expected = expected if entropy else TokenScores(expected.logprobs)
    tolerance = 0.02 if autocast else 1e-5
    assert (found.logprobs - expected.logprobs).abs().max() < tolerance * expected.logprobs.abs().max()
    for one, other in zip(gradients(found, [hidden, weight]), gradients(expected, [hidden, weight]), strict=True):
        assert one.dtype == torch.float32
        assert (one - other).abs().max() < tolerance * other.abs().max()


@pytest.mark.parametrize("scorer", SCORERS)
def test_logits_whose_exponential_is_infinite_have_scores(scorer: str) -> None:
    hidden, weight = torch.ones(1, 1), torch.tensor([[100.0], [0.0], [100.0]])
    found = find_scorer(scorer, hidden.device)(
        hidden, Head(weight, None), torch.zeros(1, dtype=torch.long), 1.0, entropy=True
    )
    assert found.entropy is not None
    assert [-found.logprobs.item(), found.entropy.item()] == pytest.approx([math.log(2)] * 2)


@pytest.mark.parametrize("scorer", SCORERS)
def test_no_tokens_have_no_scores_and_no_gradient(scorer: str) -> None:
    hidden, weight = torch.zeros(0, 4, requires_grad=True), torch.zeros(7, 4, requires_grad=True)
    score = find_scorer(scorer, hidden.device)
    found = score(hidden, Head(weight, None), torch.zeros(0, dtype=torch.long), 1.0, entropy=True)
    assert [each.tolist() for each in gradients(found, [weight])] == torch.zeros(1, 7, 4).tolist()
    assert found.logprobs.shape == (0,)


def test_scores_in_chunks_follow_autocast() -> None:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(20, 16, generator=generator, requires_grad=True)
    weight = torch.randn(97, 16, generator=generator, requires_grad=True)
    chosen = torch.randint(97, (20,), generator=generator)
    with torch.autocast("cpu", torch.bfloat16):
        expected = from_logits(torch.nn.functional.linear(hidden, weight).float(), chosen, 1.0)
        found = chunked_scores(hidden, Head(weight, None), chosen, 1.0, entropy=True, tokens=6)
    assert torch.allclose(found.logprobs, expected.logprobs, atol=1e-5)
    for one, other in zip(gradients(found, [hidden, weight]), gradients(expected, [hidden, weight]), strict=True):
        assert one.dtype == torch.float32
        assert (one - other).abs().max() < 0.02 * other.abs().max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("entropy", [False, True])
def test_the_peak_of_memory_is_about_one_chunk_of_logits(dtype: torch.dtype, entropy: bool) -> None:
    vocabulary, size, tokens, chunk = 20_000, 16, 128, 16
    hidden = torch.randn(tokens, size, dtype=dtype, requires_grad=True)
    weight = torch.randn(vocabulary, size, dtype=dtype, requires_grad=True)
    chosen = torch.randint(vocabulary, (tokens,))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        found = chunked_scores(hidden, Head(weight, None), chosen, 0.7, entropy=entropy, tokens=chunk)
        sum(part.sum() for part in found if part is not None).backward()
    allocated = peak = 0
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        allocated += event.nbytes()
        peak = max(peak, allocated)
    own = peak - 4 * weight.numel()  # its gradient is summed in float32
    assert chunk * vocabulary * 4 < own < 1.4 * chunk * vocabulary * 4


@pytest.mark.parametrize(
    ("name", "settings", "plain"),
    [
        ("Qwen3", {}, True),
        ("Llama", {"tie_word_embeddings": True}, True),
        ("Cohere", {"logit_scale": 0.5}, False),
        ("Granite", {"logits_scaling": 2.0}, False),
        ("Gemma3Text", {"final_logit_softcapping": 3.0, "head_dim": 8}, False),
        ("Gemma3Text", {"final_logit_softcapping": None, "head_dim": 8}, True),
    ],
)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_scores_are_those_of_the_models_own_logits(
    make_model: MakeModel, name: str, settings: dict[str, float], plain: bool, temperature: float
) -> None:
    model = make_model(name, **settings)
    generator = torch.Generator().manual_seed(0)
    sequences: list[TokenSequence] = []
    expected: list[Tensor] = []
    for length in (9, 14, 5):
        ids = torch.randint(4, 512, (length,), generator=generator)
        sampled = torch.rand(length, generator=generator) < 0.5
        sampled[0] = False
        logits = model(input_ids=ids[None], use_cache=False).logits[0, :-1]
        found = from_logits(logits, ids[1:], temperature)
        expected += [torch.stack(list(found))[:, sampled[1:]]]
        arrays = ids.numpy(), sampled.numpy(), ids.numpy() * 0.0, ids.numpy() * 0
        sequences.append(TokenSequence(*arrays))
    [packed] = pack(sequences, 100)
    # Packing sorts by length.
    ordered = torch.cat([expected[1], expected[0], expected[2]], 1)
    scores = score_tokens(model, packed, temperature, entropy=True)
    assert is_plain(model) == plain
    assert torch.allclose(scores.logprobs, ordered[0], atol=1e-4)
    assert torch.allclose(scores.entropy, ordered[1], atol=1e-4)
    assert score_tokens(model, packed, temperature).entropy is None
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    one, other = (gradients(each, parameters) for each in (scores, TokenScores(*ordered)))
    largest = max(tensor.abs().max() for tensor in other)
    assert max((a - b).abs().max() for a, b in zip(one, other, strict=True)) < 1e-5 * largest
