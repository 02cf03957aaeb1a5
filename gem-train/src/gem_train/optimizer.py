"""AdamW, with weights in float32 or with float32 copies of weights in bfloat16."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from gem_train.config import OptimConfig


def make_optimizer(parameters: Sequence[Tensor], config: OptimConfig) -> "torch.optim.AdamW | MasterAdamW":
    """AdamW for `parameters`; see `MasterAdamW` for bfloat16."""
    settings: dict[str, Any] = {
        "lr": config.lr,
        "betas": config.betas,
        "weight_decay": config.weight_decay,
        "fused": True,
    }
    if config.offload or any(parameter.dtype != torch.float32 for parameter in parameters):
        return MasterAdamW(parameters, "cpu" if config.offload else None, settings)
    return torch.optim.AdamW(parameters, **settings)


class MasterAdamW:
    """AdamW on float32 copies of the weights, which are rounded back into them after each step.

    In bfloat16, an update smaller than about 1/256 of a weight would be lost in rounding; here it accumulates.

    Args:
        parameters: the weights, of any type.
        device: where the copies and the moments are; by default where the weights are.
        settings: of `torch.optim.AdamW`.
    """

    def __init__(self, parameters: Iterable[Tensor], device: str | None, settings: dict[str, Any]) -> None:
        self._weights = list(parameters)
        self._masters = [
            weight.detach().to(device or weight.device, torch.float32, copy=True) for weight in self._weights
        ]
        # One optimizer for each, so that the float32 gradient of only one exists at a time.
        self._optimizers = [torch.optim.AdamW([master], **settings) for master in self._masters]

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Of all optimizers, to set the learning rate."""
        return [group for optimizer in self._optimizers for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for weight in self._weights:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change the copies by the gradients of the weights, and round them into the weights."""
        for weight, master, optimizer in zip(self._weights, self._masters, self._optimizers, strict=True):
            if weight.grad is None:
                continue
            master.grad = weight.grad.to(master.device, torch.float32)
            optimizer.step()
            master.grad = None
            weight.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs."""
        return {"masters": self._masters, "moments": [optimizer.state_dict() for optimizer in self._optimizers]}

    @torch.no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from a `state_dict`; the weights are those of its copies."""
        for master, weight, kept in zip(self._masters, self._weights, state_dict["masters"], strict=True):
            master.copy_(kept)
            weight.copy_(master)
        for optimizer, kept in zip(self._optimizers, state_dict["moments"], strict=True):
            optimizer.load_state_dict(kept)
