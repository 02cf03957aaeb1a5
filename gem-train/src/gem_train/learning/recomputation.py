"""Gradient checkpointing: layers keep only their inputs, and are computed again for the gradient.

An update then takes about a third more time, and memory for the activations of one layer instead of all.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from gem.errors import ConfigError


def without_dropout(model: nn.Module) -> None:
    """Set every probability of dropout to 0, so that also a layer in training mode computes what the sampler does."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and ("drop" in name or (name == "p" and "Dropout" in type(module).__name__)):
                setattr(module, name, 0.0)


@contextmanager
def recomputed(model: PreTrainedModel, *, enabled: bool) -> Generator[None]:
    """Let forward passes of `model` keep only the inputs of its layers.

    The layers are in training mode meanwhile, as transformers asks for, but nothing inside them is; the sampler, which
    uses the same modules with a cache, finds them as they were.

    Raises:
        ConfigError: transformers cannot recompute the layers of this model.
    """
    if not enabled:
        yield
        return
    layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    if not layers:
        raise ConfigError(
            f"{type(model).__name__} has no layers that can be computed again; set optim.checkpointing=false"
        )
    function = partial(checkpoint, use_reentrant=False, preserve_rng_state=False)
    for layer in layers:
        layer.training = layer.gradient_checkpointing = True
        layer.__dict__["_gradient_checkpointing_func"] = function
    try:
        yield
    finally:
        for layer in layers:
            layer.training = layer.gradient_checkpointing = False
