"""Updates of a model's weights, in one process or several: what the learner, the critic and imitation share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gem import seeding
from gem_train.batch import TokenSequence
from gem_train.config.sections import UpdateConfig
from gem_train.distributed.processes import whole
from gem_train.distributed.world import World, straggling
from gem_train.learning.optimizer import make_optimizer, resume
from gem_train.learning.packing import Packed, pack


class Updates:
    """The parameters of a model that are trained, and their optimizer.

    Args:
        model: its parameters with `requires_grad` are trained.
        optim: of its optimizer and its micro-batches.
        world: the processes that hold a part of it each; every one of them is given the same sequences.
        device: where it computes.
    """

    def __init__(self, model: nn.Module, optim: UpdateConfig, world: World, device: torch.device) -> None:
        named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self._optim, self._world, self._device = optim, world, device
        self._waited, self._ids = 0.0, 0
        self._optimizer = make_optimizer(
            self.parameters, lr=optim.lr, betas=optim.betas, weight_decay=optim.weight_decay, offload=optim.offload
        )

    def deal(self, sequences: Sequence[TokenSequence]) -> list[tuple[Packed, bool]]:
        """The micro-batches of this process, each with whether it counts; see `World.deal`."""
        rows = pack(sequences, self._optim.micro_tokens, self._world.groups, self._world.context)
        sizes = [row.ids.shape[1] for row in rows]
        self._ids += sum(sizes)
        self._waited += straggling(sizes, self._world.groups) * sum(sizes)
        return self._world.deal([row.to(self._device) for row in rows], sizes)

    def metrics(self) -> dict[str, float]:
        """The `straggling` of the passes since the last call, if there are several processes or groups of them."""
        waited, ids = self._waited, self._ids
        self._waited, self._ids = 0.0, 0
        return {"straggling": waited / ids} if self._world.groups > 1 and ids else {}

    def clear(self) -> None:
        """Free the gradients."""
        self._optimizer.zero_grad()

    def divide(self, by: float) -> None:
        """Divide the gradients."""
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad /= by

    def step(self, lr: float | None = None) -> float:
        """Change the weights by their gradients; returns the norm of these before it is limited."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self._optim.grad_clip)
        if lr is not None:
            for group in self._optimizer.param_groups:
                group["lr"] = lr
        self._optimizer.step()
        return whole(norm).item()

    def state(self) -> dict[str, Any]:
        """State of the optimizer."""
        return self._optimizer.state_dict()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`; the model already has its weights."""
        resume(self._optimizer, state)


def warmed_up(lr: float, step: int, steps: int) -> float:
    """The learning rate of a step, from 0: in the first `steps` it rises linearly, ``lr (step + 1) / steps``."""
    return lr * min(1.0, (step + 1) / steps) if steps else lr


def minibatches(rows: NDArray[np.int64], epochs: int, count: int, seed: int, *path: str | int) -> Iterator[list[int]]:
    """The rows of each minibatch, `count` in each of some epochs; for `seed` and `path` see `gem.seeding.derive`."""
    for epoch in range(epochs):
        order = np.random.default_rng(seeding.derive(seed, *path, epoch))
        for chosen in np.array_split(order.permutation(rows), max(1, min(count, len(rows)))):
            if len(chosen):
                yield chosen.tolist()
