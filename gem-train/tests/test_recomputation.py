"""Gradient checkpointing: the same gradients in less memory, and the sampler does not notice."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from gem.errors import ConfigError
from gem_train.learning.recomputation import recomputed, without_dropout
from gem_train.models.loading import _prepared

MakeModel = Callable[..., PreTrainedModel]
DROPOUT = {
    "Qwen3": {"attention_dropout": 0.5},
    "GPT2": {"resid_pdrop": 0.5, "embd_pdrop": 0.5, "attn_pdrop": 0.5},
    "Phi3": {"resid_pdrop": 0.5, "embd_pdrop": 0.5, "attention_dropout": 0.5, "sliding_window": None},
    "Starcoder2": {"residual_dropout": 0.5, "embedding_dropout": 0.5, "attention_dropout": 0.5, "sliding_window": None},
}


def gradients(model: PreTrainedModel, *, again: bool, length: int = 24) -> tuple[Tensor, int]:
    """The gradient of a loss, and the most memory that it took."""
    ids = torch.randint(4, 512, (1, length), generator=torch.Generator().manual_seed(1))
    positions = torch.cat([torch.arange(length // 3), torch.arange(length - length // 3)])[None]
    model.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        with recomputed(model, enabled=again):
            logits = model(input_ids=ids, position_ids=positions, use_cache=False).logits
        logits.float().log_softmax(-1)[..., 5].sum().backward()
    allocated = peak = 0
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        allocated += event.nbytes()
        peak = max(peak, allocated)
    # A layer that was left out has none.
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return torch.cat([each.flatten().float() for each in found]), peak


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", list(DROPOUT))
def test_layers_computed_again_give_the_same_gradient_without_dropout(
    make_model: MakeModel, name: str, dtype: str
) -> None:
    model = _prepared(make_model(name, **DROPOUT[name]), None, torch.device("cpu"), dtype, "float32", "auto").model
    kept, _ = gradients(model, again=False)
    found, _ = gradients(model, again=True)
    assert (found - kept).abs().max() <= 1e-5 * kept.abs().max()
    assert kept.abs().max() > 0
    # Nor is there dropout left where transformers or a user puts the whole model into training mode.
    found, _ = gradients(model.train(), again=False)
    assert torch.equal(found, kept)


@pytest.mark.parametrize(("name", "settings"), [("Starcoder2", DROPOUT["Starcoder2"]), ("OPT", {"layerdrop": 1.0})])
def test_dropout_within_the_layers_or_of_layers_would_be_noticed(
    make_model: MakeModel, name: str, settings: dict[str, Any]
) -> None:
    model = make_model(name, **settings)
    kept, _ = gradients(model, again=False)
    for module in model.modules():
        module.training = True
    found, _ = gradients(model, again=False)
    assert (found - kept).abs().max() > 0.1 * kept.abs().max()
    without_dropout(model)
    found, _ = gradients(model, again=False)
    assert (found - kept).abs().max() <= 1e-5 * kept.abs().max()


def test_layers_computed_again_take_less_memory(make_model: MakeModel) -> None:
    model = make_model("Qwen3", num_hidden_layers=8)
    _, kept = gradients(model, again=False, length=600)
    _, again = gradients(model, again=True, length=600)
    assert again < 0.5 * kept


def test_after_the_block_the_model_samples_with_its_cache_as_before(make_model: MakeModel) -> None:
    model = make_model("Qwen3")
    ids = torch.randint(4, 512, (1, 9))
    with torch.no_grad():
        expected = model(input_ids=ids, use_cache=True)
        with recomputed(model, enabled=True):
            layers = [module for module in model.modules() if module.training]
            assert all(isinstance(layer, GradientCheckpointingLayer) for layer in layers)
            assert len(layers) == 2
        found = model(input_ids=ids, use_cache=True)
    assert found.past_key_values.get_seq_length() == expected.past_key_values.get_seq_length() == 9
    assert not any(module.training for module in model.modules())


def test_a_model_whose_layers_cannot_be_computed_again_is_an_error() -> None:
    class Other(nn.Module):
        """Without such layers."""

    with pytest.raises(ConfigError, match=r"optim\.checkpointing=false"), recomputed(Other(), enabled=True):
        pass
