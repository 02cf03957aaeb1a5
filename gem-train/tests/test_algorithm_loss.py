"""The loss that algorithms share, token by token against the formula, and the effect of each of its settings."""

import math
from dataclasses import replace

import pytest
import torch

from gem_train.algorithms.base import Algorithm, TokenTerms
from gem_train.algorithms.reinforce import Reinforce
from gem_train.algorithms.settings import AlgorithmSettings

TOKENS = 24


def algorithm(**settings) -> Algorithm:
    return Reinforce(AlgorithmSettings(**settings))


@pytest.fixture
def terms() -> TokenTerms:
    """Five episodes of unequal length whose ratios are on both sides of the clip."""
    generator = torch.Generator().manual_seed(0)
    old = -torch.rand(TOKENS, generator=generator) * 3
    episode = torch.arange(TOKENS) ** 2 * 5 // TOKENS**2
    logprobs = (old + 0.6 * torch.randn(TOKENS, generator=generator)).requires_grad_()
    return TokenTerms(
        logprobs=logprobs,
        old_logprobs=old,
        engine_logprobs=old + 0.3 * torch.randn(TOKENS, generator=generator),
        advantages=torch.randn(TOKENS, generator=generator),
        episode_share=1 / torch.bincount(episode)[episode],
        action=episode,
        entropy=(-logprobs * 2).detach(),
        entropy_weight=0.1,
        reference_logprobs=old + 0.4 * torch.randn(TOKENS, generator=generator),
    )


def by_hand(terms: TokenTerms, settings: AlgorithmSettings) -> tuple[float, float]:
    """The loss and its normaliser, one token after the other."""
    low, high = settings.clips
    total = normaliser = 0.0
    rows = zip(
        *(getattr(terms, name).tolist() for name in ("logprobs", "old_logprobs", "engine_logprobs", "advantages")),
        *(getattr(terms, name).tolist() for name in ("episode_share", "entropy", "reference_logprobs")),
        strict=True,
    )
    for new, old, engine, advantage, share, entropy, reference in rows:
        ratio = math.exp(new - old)
        objective = min(ratio * advantage, min(max(ratio, 1 - low), 1 + high) * advantage)
        if settings.dual_clip is not None and advantage < 0:
            objective = max(objective, settings.dual_clip * advantage)
        loss = -objective
        if settings.importance_cap is not None:
            loss *= min(math.exp(old - engine), settings.importance_cap)
        loss -= terms.entropy_weight * entropy
        if settings.kl and settings.kl_in == "loss":
            ratio = math.exp(reference - new)
            k = {"k1": -math.log(ratio), "k2": math.log(ratio) ** 2 / 2, "k3": ratio - 1 - math.log(ratio)}
            loss += settings.kl * k[settings.kl_estimator]
        total += loss * share if settings.normaliser == "episode" else loss
        normaliser += {"tokens": 1, "episode": share, "constant": settings.constant_length * share}[settings.normaliser]
    return total, normaliser


SETTINGS = [
    {},
    {"clip": 0.05},
    {"clip_high": 0.8},
    {"dual_clip": 1.2},
    {"old_logprobs": "learner", "importance_cap": 1.1},
    {"kl": 0.5, "kl_estimator": "k1"},
    {"kl": 0.5, "kl_estimator": "k2"},
    {"kl": 0.5, "kl_estimator": "k3"},
    {"normaliser": "constant", "constant_length": 7},
    {"normaliser": "episode"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_loss_is_that_of_the_formula_and_each_setting_changes_it(terms: TokenTerms, settings: dict):
    own = algorithm(**settings)
    found = own.loss(terms)
    total, normaliser = by_hand(terms, own.settings)
    assert found.total.item() == pytest.approx(total, rel=1e-5)
    assert found.normaliser.item() == pytest.approx(normaliser, rel=1e-5)
    plain_total, plain_normaliser = by_hand(terms, AlgorithmSettings())
    assert not settings or abs(total / normaliser - plain_total / plain_normaliser) > 1e-3


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_gradient_is_that_of_finite_differences(terms: TokenTerms, settings: dict):
    own = algorithm(**settings)
    exact = {
        name: value.detach().double() if isinstance(value := getattr(terms, name), torch.Tensor) else value
        for name in TokenTerms.__dataclass_fields__
    }

    def loss(logprobs: torch.Tensor) -> torch.Tensor:
        return own.loss(TokenTerms(**{**exact, "logprobs": logprobs})).total

    assert torch.autograd.gradcheck(loss, exact["logprobs"].clone().requires_grad_(), eps=1e-7, atol=1e-4)


def test_a_divergence_that_is_subtracted_from_rewards_is_reported_and_not_in_the_loss(terms: TokenTerms):
    found = algorithm(kl=0.5, kl_in="reward").loss(terms)
    assert found.total.item() == pytest.approx(algorithm().loss(terms).total.item())
    assert found.metrics["kl_reference"] > 0


def test_parts_add_up_to_the_whole(terms: TokenTerms):
    for settings in SETTINGS:
        own = algorithm(**settings)
        parts = []
        for rows in (slice(0, 3), slice(3, 4), slice(4, None)):
            columns = {
                name: value[rows] if isinstance(value := getattr(terms, name), torch.Tensor) else value
                for name in TokenTerms.__dataclass_fields__
            }
            parts.append(own.loss(TokenTerms(**columns)))
        whole = own.loss(terms)
        torch.testing.assert_close(sum(part.total for part in parts), whole.total)
        torch.testing.assert_close(sum(part.normaliser for part in parts), whole.normaliser)
        for name, value in whole.metrics.items():
            torch.testing.assert_close(sum(part.metrics[name] for part in parts), value)


def test_without_an_entropy_bonus_the_metric_is_the_sampled_estimate(terms: TokenTerms):
    sampled = algorithm().loss(replace(terms, entropy=None, entropy_weight=0.0)).metrics["entropy"]
    torch.testing.assert_close(sampled, -terms.logprobs.detach().sum())
    torch.testing.assert_close(algorithm().loss(terms).metrics["entropy"], terms.entropy.sum())


def test_the_divergence_clip_fractions_and_importance_weights_are_reported(terms: TokenTerms):
    own = algorithm(clip=0.3, clip_high=0.5, old_logprobs="learner", importance_cap=1.1)
    metrics = own.loss(terms).metrics
    ratio = (terms.logprobs - terms.old_logprobs).exp()
    weight = (terms.old_logprobs - terms.engine_logprobs).exp()
    assert metrics["clip_fraction_low"] == (ratio < 0.7).sum() > 0
    assert metrics["clip_fraction_high"] == (ratio > 1.5).sum() > 0
    assert metrics["clip_fraction"] == ((ratio < 0.7) | (ratio > 1.5)).sum()
    assert metrics["importance_capped"] == (weight > 1.1).sum() > 0
    torch.testing.assert_close(metrics["importance_weight"], weight.clamp(max=1.1).sum())
    apart = terms.logprobs - terms.old_logprobs
    torch.testing.assert_close(metrics["kl"], (apart.exp() - 1 - apart).sum())  # from the policy that sampled


def test_the_gradient_of_k2_is_that_of_the_divergence():
    """Over a whole distribution; that of k1 is 0 in expectation, so it pulls nowhere."""
    logits = torch.tensor([0.3, -0.2, 0.9], dtype=torch.float64, requires_grad=True)
    reference = torch.tensor([0.1, 0.5, -0.4], dtype=torch.float64).log_softmax(-1)
    own = logits.log_softmax(-1)
    [exact] = torch.autograd.grad((own.exp() * (own - reference)).sum(), logits, retain_graph=True)
    found = {}
    for estimator in ("k1", "k2"):
        settings = AlgorithmSettings(kl=1.0, kl_estimator=estimator)
        nothing = torch.zeros(3, dtype=torch.float64)
        terms = TokenTerms(
            own, own.detach(), nothing, nothing, nothing + 1, nothing.long(), reference_logprobs=reference
        )
        # Each token as often as the model draws it.
        per_token = torch.stack([_only(settings, terms, token) for token in range(3)])
        [found[estimator]] = torch.autograd.grad((own.exp().detach() * per_token).sum(), logits, retain_graph=True)
    torch.testing.assert_close(found["k2"], exact)
    torch.testing.assert_close(found["k1"], torch.zeros(3, dtype=torch.float64), atol=1e-12, rtol=0)


def _only(settings: AlgorithmSettings, terms: TokenTerms, token: int) -> torch.Tensor:
    columns = {
        name: value[token : token + 1] if isinstance(value := getattr(terms, name), torch.Tensor) else value
        for name in TokenTerms.__dataclass_fields__
    }
    return Reinforce(settings).loss(TokenTerms(**columns)).total
