"""AdamW against its formula; with weights in bfloat16 and float32 copies of them, in the memory that the guide says."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from gem_train.batch import TokenSequence
from gem_train.config.sections import UpdateConfig
from gem_train.distributed.world import ALONE, World
from gem_train.learning.optimizer import MasterAdamW, make_optimizer
from gem_train.learning.scoring import score_tokens
from gem_train.learning.updates import Updates, minibatches
from gem_train.models.loading import make_tiny

SETTINGS: dict[str, Any] = {"lr": 1e-4, "betas": (0.9, 0.95), "weight_decay": 0.0}


def steps(weight: torch.Tensor, optimizer: Any, number: int) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(number):
        weight.grad = (1 + 0.1 * torch.randn(weight.shape, generator=generator)).to(weight.dtype)
        optimizer.step()


@pytest.mark.parametrize(("dtype", "offload"), [("float32", False), ("float32", True), ("bfloat16", False)])
def test_updates_follow_the_formula_of_adamw_with_a_limited_gradient(dtype: str, offload: bool) -> None:
    """Loshchilov and Hutter, arXiv 1711.05101, algorithm 2; gradients of very unequal norms, most over the limit."""
    settings = {"betas": (0.6, 0.9), "weight_decay": 0.5, "grad_clip": 0.5, "offload": offload}
    rng = np.random.default_rng(0)
    layer = torch.nn.Linear(4, 5).to(getattr(torch, dtype))
    updates = Updates(layer, UpdateConfig(lr=1.0, **settings), ALONE, torch.device("cpu"))
    weights = [parameter.detach().double().numpy().copy() for parameter in layer.parameters()]
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in weights]
    for step, (scale, lr) in enumerate([(1.0, 0.1), (20.0, 0.05), (0.02, 0.2)], start=1):
        gradients = [scale * rng.normal(size=weight.shape) for weight in weights]
        updates.clear()
        for parameter, gradient in zip(layer.parameters(), gradients, strict=True):
            (parameter * torch.from_numpy(gradient).to(parameter.dtype)).sum().backward()
        norm = np.sqrt(sum(np.square(gradient).sum() for gradient in gradients))

        assert updates.step(lr) == pytest.approx(norm, rel=1e-2)

        for weight, gradient, (first, second) in zip(weights, gradients, moments, strict=True):
            limited = gradient * min(1, 0.5 / norm)
            first[:] = 0.6 * first + 0.4 * limited
            second[:] = 0.9 * second + 0.1 * limited**2
            along = first / (1 - 0.6**step) / (np.sqrt(second / (1 - 0.9**step)) + 1e-8)
            weight[:] = (1 - lr * 0.5) * weight - lr * along
    exact = dtype == "float32"
    for parameter, expected in zip(layer.parameters(), weights, strict=True):
        np.testing.assert_allclose(parameter.detach().float().numpy(), expected, atol=1e-5 if exact else 1e-2)


def test_updates_too_small_for_bfloat16_accumulate() -> None:
    start = torch.randn(50, generator=torch.Generator().manual_seed(1)).bfloat16() + 2
    plain, rounded, kept = start.float(), start.clone(), start.clone()
    steps(plain, torch.optim.AdamW([plain.requires_grad_()], **SETTINGS), 300)
    steps(rounded, torch.optim.AdamW([rounded.requires_grad_()], **SETTINGS), 300)
    steps(kept, MasterAdamW([kept.requires_grad_()], None, SETTINGS), 300)
    assert torch.equal(rounded, start)  # an update of 1e-4 is lost in rounding
    assert (plain - start.float()).abs().min() > 0.02
    assert (kept.float() - plain).abs().max() < 0.01  # half a unit in the last place


def test_a_resumed_optimizer_continues_exactly() -> None:
    start = torch.randn(50, generator=torch.Generator().manual_seed(1)).bfloat16()
    unbroken, broken = start.clone().requires_grad_(), start.clone().requires_grad_()
    optimizer = MasterAdamW([unbroken], None, SETTINGS)
    steps(unbroken, optimizer, 7)
    with torch.no_grad():
        broken.zero_()
    other = MasterAdamW([broken], None, SETTINGS)
    other.load_state_dict(deepcopy(optimizer.state_dict()))
    assert torch.equal(unbroken, broken)
    for optimizer_of in (optimizer, other):
        for group in optimizer_of.param_groups:
            group["lr"] = 0.1  # a difference of the moments is not lost in rounding
    steps(unbroken, optimizer, 5)
    steps(broken, other, 5)
    assert torch.equal(unbroken, broken)


def test_what_a_warm_up_changes_before_the_first_step_is_kept() -> None:
    weight = torch.zeros(3).bfloat16().requires_grad_()
    optimizer = MasterAdamW([weight], None, SETTINGS)
    weight.data += 5
    steps(weight, optimizer, 1)
    assert weight.tolist() == [5.0] * 3


def test_a_weight_without_a_gradient_does_not_decay() -> None:
    weight = torch.ones(3).bfloat16().requires_grad_()
    MasterAdamW([weight], None, {**SETTINGS, "lr": 1.0, "weight_decay": 0.5}).step()
    assert weight.tolist() == [1.0] * 3


def test_only_weights_that_are_trained_have_copies() -> None:
    layer = torch.nn.Linear(4, 5).bfloat16()
    layer.weight.requires_grad_(False)
    updates = Updates(layer, UpdateConfig(), ALONE, torch.device("cpu"))
    assert [copy.shape for copy in updates.state()["masters"]] == [(5,)]


def test_copies_of_weights_on_a_gpu_are_in_the_memory_of_the_cpu_if_offloaded() -> None:
    """Without a GPU."""
    with FakeTensorMode():
        model = torch.nn.Module()
        model.weight = torch.nn.Parameter(torch.empty(2, device="cuda"))
        updates = Updates(model, UpdateConfig(offload=True), ALONE, torch.device("cuda"))
        assert [copy.device.type for copy in updates.state()["masters"]] == ["cpu"]


def test_the_learning_rate_of_every_weight_can_be_set() -> None:
    weights = [torch.ones(3).bfloat16().requires_grad_() for _ in range(2)]
    optimizer = MasterAdamW(weights, "cpu", SETTINGS)
    for group in optimizer.param_groups:
        group["lr"] = 0.5
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    assert [weight.tolist() for weight in weights] == [[0.5] * 3] * 2
    optimizer.zero_grad()
    assert all(weight.grad is None for weight in weights)


@pytest.mark.parametrize(
    ("weights", "offload", "expected"),
    [
        ("float32", False, (4, 4, 0, 8)),
        ("bfloat16", False, (2, 4, 4, 8)),
        ("float32", True, (4, 4, 4, 8)),
        ("bfloat16", True, (2, 4, 4, 8)),
    ],
)
def test_the_bytes_of_a_parameter_are_those_that_the_guide_says(
    weights: Any, offload: bool, expected: tuple[int, ...]
) -> None:
    """Weights, gradients, the optimizer's copies of weights and moments; the last two are on the CPU if offloaded."""
    model = make_tiny([], 0, device="cpu", dtype="bfloat16", weights=weights).model
    optimizer = make_optimizer(list(model.parameters()), lr=1e-3, offload=offload)
    model(input_ids=torch.ones(1, 4, dtype=torch.long)).logits.float().sum().backward()
    own = sum(weight.nbytes for weight in model.parameters())
    gradients = sum(weight.grad.nbytes for weight in model.parameters() if weight.grad is not None)
    optimizer.step()
    state = optimizer.state_dict()
    moments = [state] if isinstance(optimizer, torch.optim.AdamW) else state["moments"]
    kept = sum(
        tensor.nbytes
        for one in moments
        for entry in one["state"].values()
        for name, tensor in entry.items()
        if name != "step"
    )
    masters = 0 if isinstance(optimizer, torch.optim.AdamW) else sum(master.nbytes for master in state["masters"])
    count = sum(weight.numel() for weight in model.parameters())
    found = own // count, gradients // count, masters // count, kept // count
    assert found == expected


def gradient(weights: Any, micro_tokens: int) -> torch.Tensor:
    """The gradient of a batch for the model `tiny`, whose weights are numbers of bfloat16 in either type."""
    model = make_tiny([], 0, device="cpu", dtype=weights, weights=weights).model
    for parameter in model.parameters():
        parameter.data = parameter.data.bfloat16().to(parameter.dtype)
    rng = np.random.default_rng(0)
    sequences: list[TokenSequence] = []
    for length in rng.integers(4, 12, size=160):
        ids = rng.integers(model.config.vocab_size, size=length)
        sequences.append(TokenSequence(ids, np.arange(length) > 0, np.zeros(length, np.float32), np.zeros(length, int)))
    updates = Updates(model, UpdateConfig(micro_tokens=micro_tokens), ALONE, model.device)
    for part, _ in updates.deal(sequences):
        score_tokens(model, part, 1.0).logprobs.sum().backward()
    updates.divide(100)
    return torch.cat([parameter.grad.flatten() for parameter in updates.parameters if parameter.grad is not None])


def test_gradients_of_bfloat16_are_summed_in_float32_so_micro_batches_do_not_change_them() -> None:
    exact = gradient("float32", 2000)
    found = [gradient("bfloat16", micro_tokens) for micro_tokens in (11, 100, 2000)]
    errors = [float((each - exact).norm() / exact.norm()) for each in found]
    assert max(errors) < 1.4e-2
    assert max(errors) - min(errors) < 1e-3


def test_straggling_is_that_of_the_passes_since_it_was_last_asked_for() -> None:
    world = World()
    world.size = 2
    updates = Updates(torch.nn.Linear(1, 1), UpdateConfig(micro_tokens=4), world, torch.device("cpu"))
    sequence = TokenSequence(np.arange(4), np.ones(4, bool), np.zeros(4, np.float32), np.zeros(4, int))
    for count, expected in ((1, 2.0), (2, 1.0)):
        updates.deal([sequence] * count)
        assert updates.metrics() == {"straggling": expected}


def test_minibatches_have_every_row_once_in_another_order_by_epoch_step_and_seed() -> None:
    rows = np.arange(3, 23)

    def epochs(seed: int, step: int) -> list[list[int]]:
        found = np.array(list(minibatches(rows, 2, 4, seed, "minibatches", step)))
        assert found.shape == (2 * 4, 5)
        return found.reshape(2, 20).tolist()

    orders = [*epochs(0, 0), *epochs(0, 1), *epochs(1, 0)]
    assert all(sorted(order) == rows.tolist() for order in orders)
    assert len({*map(tuple, orders), tuple(rows)}) == 7
    assert epochs(0, 0) == orders[:2]
