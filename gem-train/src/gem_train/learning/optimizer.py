"""AdamW, with weights in float32 or with float32 copies of weights in bfloat16."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from gem_train.distributed.shards import fill


def make_optimizer(
    parameters: Sequence[Tensor],
    *,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    offload: bool = False,
) -> "torch.optim.AdamW | MasterAdamW":
    """AdamW for `parameters`.

    Args:
        parameters: what is trained. For those that are not float32 it is a `MasterAdamW`.
        lr: learning rate.
        betas: decay of the moments.
        weight_decay: per unit of learning rate.
        offload: whether copies and moments are in the memory of the CPU.
    """
    sum_in_float32(parameters)
    settings: dict[str, Any] = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "fused": True}
    if offload or any(parameter.dtype != torch.float32 for parameter in parameters):
        return MasterAdamW(parameters, "cpu" if offload else None, settings)
    return torch.optim.AdamW(parameters, **settings)


def sum_in_float32(parameters: Iterable[Tensor]) -> None:
    """Let the gradients of all micro-batches be added up in float32, whatever the type of the parameters.

    A sum in bfloat16 loses what is below 1/256 of it: more, the more micro-batches there are.
    """
    for parameter in parameters:
        if parameter.dtype == torch.float32:
            continue
        if isinstance(parameter, DTensor):
            # FSDP sums over processes in float32, leaves the type of the parameter, and adds the next gradient to that.
            parameter.grad_dtype = None
            parameter.register_post_accumulate_grad_hook(_widen)
        else:
            parameter.grad_dtype = torch.float32


def _widen(parameter: Tensor) -> None:
    if parameter.grad is not None:
        parameter.grad = parameter.grad.float()  # which is the same tensor if it is float32 already


class MasterAdamW:
    """AdamW on float32 copies of the weights, which are rounded back into them after each step.

    In bfloat16, an update smaller than about 1/256 of a weight would be lost in rounding; here it accumulates. The
    copies are made when they are first needed, so the weights may change until then, as in a warm-up.

    Args:
        parameters: the weights, of any type.
        device: where the copies and the moments are; by default where the weights are.
        settings: of `torch.optim.AdamW`.
    """

    def __init__(self, parameters: Sequence[Tensor], device: str | None, settings: dict[str, Any]) -> None:
        self._weights = list(parameters)
        self._device = device
        self._settings = settings
        self._made: list[tuple[Tensor, torch.optim.AdamW]] = []

    def _copies(self) -> list[tuple[Tensor, torch.optim.AdamW]]:
        """The copy of each weight, and an optimizer for it alone: so the gradient of only one is moved to `device`."""
        if not self._made:
            for weight in self._weights:
                master = weight.detach().to(self._device or weight.device, torch.float32, copy=True)
                self._made.append((master, torch.optim.AdamW([master], **self._settings)))
        return self._made

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Groups of all optimizers, to set the learning rate."""
        return [group for _, optimizer in self._copies() for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for weight in self._weights:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change the copies by the gradients of the weights, and round them into the weights."""
        for weight, (master, optimizer) in zip(self._weights, self._copies(), strict=True):
            if weight.grad is None:
                continue
            master.grad = weight.grad.to(master.device, torch.float32)
            optimizer.step()
            master.grad = None
            weight.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """State for `load_state_dict`."""
        copies = self._copies()
        return {
            "masters": [master for master, _ in copies],
            "moments": [optimizer.state_dict() for _, optimizer in copies],
        }

    @torch.no_grad()
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Resume from a `state_dict`, whose tensors may be stored; the weights become those of its copies."""
        kept = zip(state_dict["masters"], state_dict["moments"], strict=True)
        for weight, (master, optimizer), (copy, moments) in zip(self._weights, self._copies(), kept, strict=True):
            fill(master, copy)
            weight.copy_(master)
            resume(optimizer, moments)


def resume(optimizer: "torch.optim.AdamW | MasterAdamW", state: Mapping[str, Any]) -> None:
    """Let an optimizer go on from a `state_dict` of its kind, in which tensors are whole, or stored."""
    if isinstance(optimizer, MasterAdamW):
        optimizer.load_state_dict(state)
        return
    optimizer.load_state_dict({"state": {}, "param_groups": state["param_groups"]})
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for index, values in state["state"].items():
        parameter = parameters[index]
        own = optimizer.state[parameter]
        for name, value in values.items():
            like = (
                parameter if value.ndim else torch.zeros((), device=parameter.device)
            )  # that is how many steps it made
            own[name] = torch.zeros_like(like, requires_grad=False)
            fill(own[name], value)
