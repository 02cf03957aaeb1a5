"""The losses against hand-made cases."""

import math

import pytest
import torch

from gem_train.losses import clip_fraction, clipped_policy_loss, kl_estimate


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
    new = torch.tensor([math.log(ratio)])
    loss = clipped_policy_loss(new, torch.zeros(1), torch.tensor([advantage]), 0.2)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_first_gradient_is_that_of_reinforce():
    new = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    advantages = torch.tensor([1.0, -3.0, 0.5])
    clipped_policy_loss(new, new.detach(), advantages, 0.2).sum().backward()
    torch.testing.assert_close(new.grad, -advantages)


def test_the_gradient_beyond_the_clip_is_0():
    new = torch.tensor([0.5, -0.5], requires_grad=True)
    clipped_policy_loss(new, torch.zeros(2), torch.tensor([1.0, -1.0]), 0.2).sum().backward()
    assert new.grad.tolist() == [0, 0]


def test_the_clip_fraction_counts_ratios_outside():
    new = torch.tensor([0.0, 0.1, 0.3, -0.3])
    assert clip_fraction(new, torch.zeros(4), 0.2).item() == 0.5


def test_the_kl_estimate_is_unbiased():
    old = torch.tensor([0.2, 0.3, 0.5])
    new = torch.tensor([0.4, 0.4, 0.2])
    # Exactly: every outcome as often as the old distribution draws it.
    drawn = torch.tensor([0] * 2 + [1] * 3 + [2] * 5)
    exact = (old * (old / new).log()).sum()
    torch.testing.assert_close(kl_estimate(new.log()[drawn], old.log()[drawn]), exact)
