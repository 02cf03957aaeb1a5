"""The losses against hand-made cases."""

import pytest
import torch

from gem_train.algorithms.losses import clipped_policy_loss, kl_divergence, outside_clip


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (1.0, 2.0, -2.0),
        (1.1, 2.0, -2.2),
        (1.5, 2.0, -2.4),  # a good action is not pushed beyond 1 + clip
        (0.5, 2.0, -1.0),  # but it is pulled back from below without limit
        (0.5, -2.0, 1.6),  # a bad action is not pushed below 1 - clip
        (1.5, -2.0, 3.0),
    ],
)
def test_the_ratio_is_clipped_only_if_clipping_lowers_the_objective(ratio, advantage, expected):
    loss = clipped_policy_loss(torch.tensor([ratio]), torch.tensor([advantage]), 0.2, 0.2)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_first_gradient_is_that_of_reinforce():
    new = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    advantages = torch.tensor([1.0, -3.0, 0.5])
    clipped_policy_loss((new - new.detach()).exp(), advantages, 0.2, 0.2).sum().backward()
    torch.testing.assert_close(new.grad, -advantages)


def test_the_gradient_beyond_the_clip_is_0():
    new = torch.tensor([0.5, -0.5], requires_grad=True)
    clipped_policy_loss(new.exp(), torch.tensor([1.0, -1.0]), 0.2, 0.2).sum().backward()
    assert new.grad.tolist() == [0, 0]


def test_ratios_outside_the_clip_are_counted_by_side():
    low, high = outside_clip(torch.tensor([1.0, 1.1, 1.3, 0.7, 0.75]), 0.28, 0.2)
    assert (low.tolist(), high.tolist()) == ([0, 0, 0, 1, 0], [0, 0, 1, 0, 0])


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_the_kl_estimates_k1_and_k3_are_unbiased(estimator):
    old = torch.tensor([0.2, 0.3, 0.5])
    new = torch.tensor([0.4, 0.4, 0.2])
    # Exactly: every outcome as often as the old distribution draws it.
    drawn = torch.tensor([0] * 2 + [1] * 3 + [2] * 5)
    exact = (old * (old / new).log()).sum()
    torch.testing.assert_close(kl_divergence(old.log()[drawn], new.log()[drawn], estimator).mean(), exact)
