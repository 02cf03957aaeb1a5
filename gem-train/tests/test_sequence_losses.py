"""GSPO, CISPO and corrections of the gap between engine and learner: loss and gradient against NumPy, in float64."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from gem_train.algorithms.base import Scores, TokenTerms
from gem_train.algorithms.credit import Credit
from gem_train.algorithms.reinforce import Reinforce
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.learning.token_table import TokenTable

Array = NDArray[np.float64]

EPISODES = [[[0, 1, 2], [3]], [[4, 5]], [[6, 7, 8, 9, 10], [11, 12], [13]], [[14, 15, 16, 17, 18]]]
"""The tokens of each turn of each episode."""
TURNS = [turn for turns in EPISODES for turn in turns]
WHOLE = [[token for turn in turns for token in turn] for turns in EPISODES]
TOKENS, VOCABULARY = 19, 7


class Case:
    """Tokens with logits of their own, and log-probabilities before the update and at sampling that are others."""

    def __init__(self, seed: int, actions: list[list[int]]) -> None:
        rng = np.random.default_rng(seed)
        self.actions = actions
        self.logits = rng.normal(size=(TOKENS, VOCABULARY))
        self.chosen = rng.integers(0, VOCABULARY, TOKENS)
        self.new = np.take_along_axis(log_softmax(self.logits), self.chosen[:, None], 1)[:, 0]
        self.old = self.new + rng.normal(scale=0.3, size=TOKENS)
        self.engine = self.old + rng.normal(scale=0.3, size=TOKENS)
        self.action, self.advantages, self.share = np.zeros(TOKENS, np.int64), np.zeros(TOKENS), np.zeros(TOKENS)
        for number, tokens in enumerate(actions):
            self.action[tokens], self.advantages[tokens] = number, rng.normal()
        for tokens in WHOLE:
            self.share[tokens] = 1 / len(tokens)


def log_softmax(logits: Array) -> Array:
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def in_numpy(case: Case, settings: AlgorithmSettings, clips: tuple[float, float]) -> tuple[float, float, Array]:
    """The loss, its normaliser and its gradient by the logits, one action and token after the other."""
    low, high = 1 - clips[0], 1 + clips[1]
    cap = settings.importance_cap
    scores = np.eye(VOCABULARY)[case.chosen] - np.exp(log_softmax(case.logits))  # gradients of the log-probabilities
    total, gradient, normaliser = 0.0, np.zeros_like(case.logits), 0.0
    for tokens in case.actions:
        ratios = np.exp(case.new[tokens] - case.old[tokens])
        if settings.ratio == "action":  # GSPO, equation 7
            ratios[:] = np.prod(ratios) ** (1 / len(tokens))
        gaps = np.exp(case.old[tokens] - case.engine[tokens])
        if settings.importance == "action":
            gaps[:] = np.prod(gaps)
        if settings.importance == "geometric":
            gaps[:] = np.prod(gaps) ** (1 / len(tokens))
        for token, ratio, gap in zip(tokens, ratios, gaps, strict=True):
            weight, advantage = 1.0, case.advantages[token]
            if cap is not None and settings.importance_beyond == "reject":
                if not 1 / cap <= gap <= cap:
                    continue
                weight = 1.0 if settings.importance == "geometric" else gap
            elif cap is not None:
                weight = min(gap, cap)
            clipped = min(max(ratio, low), high)
            if settings.policy_loss == "cispo":  # MiniMax-M1, equation 4: clipped weights, and every token's gradient
                objective, slope = clipped * advantage * case.new[token], clipped * advantage
            else:  # GSPO, equation 5: no gradient where clipping lowers the objective
                objective = min(ratio * advantage, clipped * advantage)
                slope = ratio * advantage if ratio * advantage <= clipped * advantage else 0.0
            mean = case.share[token] if settings.normaliser == "episode" else 1.0
            total -= mean * weight * objective
            gradient[token] -= mean * weight * slope * scores[token]
            normaliser += mean
    return total, normaliser, gradient


def in_torch(case: Case, settings: AlgorithmSettings) -> tuple[float, float, Array]:
    logits = torch.from_numpy(case.logits).requires_grad_()
    logprobs = logits.log_softmax(-1).gather(1, torch.from_numpy(case.chosen)[:, None])[:, 0]
    columns = (case.old, case.engine, case.advantages, case.share, case.action)
    found = Reinforce(settings).loss(TokenTerms(logprobs, *map(torch.from_numpy, columns)))
    found.total.backward()
    assert logits.grad is not None
    return found.total.item(), found.normaliser.item(), logits.grad.numpy()


LEARNER = {"old_logprobs": "learner", "importance_cap": 1.3}
GSPO = {"ratio": "action"}
CASES = [
    ({}, (0.2, 0.2)),
    ({"policy_loss": "cispo"}, (1.0, 4.0)),
    ({"policy_loss": "cispo", "clip": 0.1, "clip_high": 0.2}, (0.1, 0.2)),
    ({"policy_loss": "cispo", **GSPO, "clip": 0.1}, (0.1, 0.1)),
    (GSPO, (3e-4, 4e-4)),
    ({**GSPO, "clip": 0.1, "clip_high": 0.3}, (0.1, 0.3)),
    (LEARNER, (0.2, 0.2)),
    ({**LEARNER, "importance_beyond": "reject"}, (0.2, 0.2)),
    ({**LEARNER, "importance": "action"}, (0.2, 0.2)),
    ({**LEARNER, "importance": "action", "importance_beyond": "reject"}, (0.2, 0.2)),
    ({**LEARNER, "importance": "geometric", "importance_beyond": "reject"}, (0.2, 0.2)),
    ({**LEARNER, **GSPO, "clip": 0.1}, (0.1, 0.1)),
]


@pytest.mark.parametrize("normaliser", ["tokens", "episode"])
@pytest.mark.parametrize("actions", ["turn", "episode"])
@pytest.mark.parametrize(("settings", "clips"), CASES, ids=str)
def test_loss_and_gradient_are_those_of_a_reference_in_numpy(settings, clips, actions, normaliser):
    own = AlgorithmSettings.model_validate({**settings, "actions": actions, "normaliser": normaliser})
    grouped = TURNS if actions == "turn" else WHOLE
    plain = AlgorithmSettings.model_validate({"actions": actions, "normaliser": normaliser})
    differs = 0.0
    for seed in range(5):
        case = Case(seed, grouped)
        *sums, gradient = in_torch(case, own)
        *expected, by_hand = in_numpy(case, own, clips)
        assert sums == pytest.approx(expected, rel=0, abs=1e-9)
        assert np.abs(gradient - by_hand).max() < 1e-9
        differs = max(differs, float(np.abs(gradient - in_torch(case, plain)[2]).max()))
    assert (differs > 1e-3) == bool(settings)


def test_gspo_of_whole_episodes_is_equation_5_of_its_paper():
    """The mean over sequences of the clipped length-normalised ratio, and its gradient by finite differences."""
    case = Case(1, WHOLE)
    settings = AlgorithmSettings(actions="episode", ratio="action", normaliser="episode", clip=0.1)

    def objective(logits: Array) -> float:
        new = np.take_along_axis(log_softmax(logits), case.chosen[:, None], 1)[:, 0]
        values = []
        for tokens in case.actions:
            ratio, advantage = np.exp(np.mean(new[tokens] - case.old[tokens])), case.advantages[tokens[0]]
            values.append(min(ratio * advantage, np.clip(ratio, 0.9, 1.1) * advantage))
        return float(np.mean(values))

    total, count, gradient = in_torch(case, settings)
    total, gradient = total / count, gradient / count
    assert total == pytest.approx(-objective(case.logits), abs=1e-12)
    for place in np.ndindex(case.logits.shape):
        step = np.zeros_like(case.logits)
        step[place] = 1e-5
        slope = (objective(case.logits + step) - objective(case.logits - step)) / 2e-5
        assert gradient[place] == pytest.approx(-slope, abs=1e-8)


def test_the_shares_of_what_is_capped_and_of_what_is_rejected_are_reported():
    case = Case(0, TURNS)
    gap = np.exp(case.old - case.engine)
    product = np.array([gap[case.action == action].prod() for action in case.action])

    def metrics(**settings) -> dict[str, float]:
        own = AlgorithmSettings.model_validate({**LEARNER, **settings})
        columns = (case.new, case.old, case.engine, case.advantages, case.share, case.action)
        found = Reinforce(own).loss(TokenTerms(*map(torch.from_numpy, columns))).metrics
        return {name: value.item() for name, value in found.items() if name.startswith("importance")}

    capped = metrics(importance="action")
    assert capped == pytest.approx(
        {"importance_weight": np.minimum(product, 1.3).sum(), "importance_capped": (product > 1.3).sum()}
    )
    outside = (product > 1.3) | (product < 1 / 1.3)
    rejected = metrics(importance="action", importance_beyond="reject")
    assert rejected == pytest.approx(
        {"importance_weight": product[~outside].sum(), "importance_rejected": outside.sum()}
    )
    assert 0 < capped["importance_capped"] < rejected["importance_rejected"] < TOKENS


def test_tokens_have_the_number_of_their_action_and_those_of_another_segment_have_another():
    """Turns 0 and 1 of an episode are in a first segment, turn 2 and the only turn of another episode in others."""
    turns = [[-1, 0, 0, -1, 1], [-1, 2, 2], [-1, 3]]

    def numbers(turn_of: list[int]) -> list[int]:
        rows = [np.array([turn if turn < 0 else turn_of[turn] for turn in each]) for each in turns]
        sequences = [TokenSequence(np.zeros(len(row), np.int64), row >= 0, np.zeros(len(row)), row) for row in rows]
        count = max(turn_of) + 1
        episode = np.arange(count) if count == 2 else np.array([0, 0, 0, 1])
        batch = Batch.of(sequences, np.zeros(count, np.float32), episode)
        nothing = np.zeros(count, np.float32)
        table = TokenTable.of(batch, scores=Scores(), credit=Credit(nothing, nothing), version=0)
        found = [column[row >= 0] for column, row in zip(table.columns["action"], rows, strict=True)]
        return np.unique(np.concatenate(found), return_inverse=True)[1].tolist()

    assert numbers([0, 1, 2, 3]) == [0, 0, 1, 2, 2, 3]
    assert numbers([0, 0, 0, 1]) == [0, 0, 0, 1, 1, 2]
