"""The critic: a model of its own that values the state before each action."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from gem_train.algorithms.settings import CriticSettings
from gem_train.batch import Batch, Bools, Floats, TokenSequence
from gem_train.config.sections import UpdateConfig
from gem_train.distributed.shards import fill
from gem_train.distributed.world import ALONE, World
from gem_train.learning.packing import Packed
from gem_train.learning.recomputation import recomputed
from gem_train.learning.scoring import forward
from gem_train.learning.updates import Updates, minibatches
from gem_train.models.loading import blocks_of, materialise, without_weights


class Critic:
    """A copy of the policy's body with a linear head, and an optimizer.

    The state before an action is everything that the policy had read when it began: the critic's value is read at the
    id before the first sampled one. The copy is made when it is first needed, after a warm-up of the policy, and each
    process copies the part that it holds; the head begins at 0, so that every state has the value 0.

    Args:
        policy: the model that it is copied from; it has no weights yet, or is not divided yet.
        settings: of its updates.
        optim: the policy's: its `micro_tokens` and `checkpointing` are the critic's too.
        seed: of the order of minibatches.
        bfloat16: whether it computes in bfloat16; the weights of its body have the type of the policy's.
        world: the processes that hold a part of it each.
    """

    def __init__(
        self,
        policy: PreTrainedModel,
        settings: CriticSettings,
        optim: UpdateConfig,
        *,
        seed: int,
        bfloat16: bool = False,
        world: World = ALONE,
    ) -> None:
        self._policy, self._settings, self._optim = policy, settings, optim
        self._seed, self._bfloat16, self._world = seed, bfloat16, world
        self._body = without_weights(policy.base_model)
        self._network: _ValueNetwork | None = None
        self._made: Updates | None = None

    def values(self, batch: Batch) -> Floats:
        """The value of the state before each action, ``[actions]``; 0 for an action without ids."""
        found = np.zeros(batch.num_turns, np.float32)
        with torch.no_grad():
            for part, counts in self._built()[1].deal(states(batch)):
                found[part.turn[part.sampled].cpu().numpy()] = self._forward(part).cpu().numpy() * counts
        # Every state is valued in one process, and 0 in the others.
        return self._world.sum(torch.from_numpy(found)).numpy()

    def update(self, batch: Batch, targets: Floats, old: Floats, step: int) -> dict[str, float]:
        """Learn the values of states: some epochs over the batch in minibatches.

        Args:
            batch: the sequences.
            targets: what the values should be, ``[actions]``; states without an action are left out.
            old: the values before, ``[actions]``.
            step: of the run, for the order of minibatches.
        """
        settings = self._settings
        updates = self._built()[1]
        sequences = states(batch, ~batch.state_only)
        goal, before = (torch.from_numpy(each).to(self._policy.device) for each in (targets, old))
        losses: list[float] = []
        norms: list[float] = []
        clipped = rows = 0
        orders = (self._seed, "critic", step)
        for chosen in minibatches(np.arange(len(sequences)), settings.epochs, settings.minibatches, *orders):
            updates.clear()
            total, count = 0.0, 0
            for part, counts in updates.deal([sequences[index] for index in chosen]):
                row = part.turn[part.sampled]
                loss, outside = value_loss(self._forward(part), goal[row], before[row], settings.clip)
                (loss.sum() * counts).backward()
                if counts:
                    total, count = total + loss.sum().item(), count + len(row)
                    clipped += int(outside.sum())
            shares = self._world.gather((total, count))
            total, count = sum(share for share, _ in shares), sum(share for _, share in shares)
            updates.divide(count / self._world.size)  # they are means over the processes
            norms.append(updates.step())
            losses.append(total / count)
            rows += count
        updates.clear()
        known = ~batch.state_only
        return {
            "value_loss": float(np.mean(losses)) if losses else 0.0,
            "value_grad_norm": float(np.mean(norms)) if norms else 0.0,
            "value_clip_fraction": sum(self._world.gather(clipped)) / max(1, rows),
            "explained_variance": explained_variance(targets[known], old[known]),
        }

    def state(self) -> dict[str, Any]:
        """State for `restore`."""
        updates = self._built()[1]
        weights = {name: tensor.detach() for name, tensor in zip(updates.names, updates.parameters, strict=True)}
        return {"weights": weights, "optimizer": updates.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`."""
        network, updates = self._built()
        own = dict(network.named_parameters())
        for name, tensor in state["weights"].items():
            fill(own[name], tensor)
        updates.restore(state["optimizer"])

    def _built(self) -> "tuple[_ValueNetwork, Updates]":
        if self._network is None or self._made is None:
            self._network = _ValueNetwork(self._body, self._policy)
            self._world.shard(self._network, [*blocks_of(self._policy), _Head.__name__])
            materialise(self._body, self._policy.base_model)
            settings, micro_tokens = self._settings, self._optim.micro_tokens
            optim = UpdateConfig(
                lr=settings.lr, grad_clip=settings.grad_clip, micro_tokens=micro_tokens, betas=(0.9, 0.999)
            )
            self._made = Updates(self._network, optim, self._world, self._policy.device)
        return self._network, self._made

    def _forward(self, packed: Packed) -> Tensor:
        """The values at the marked positions of a packed batch, ``[states]``."""
        network, _ = self._built()
        again = self._optim.checkpointing and torch.is_grad_enabled()
        with (
            torch.autocast(packed.ids.device.type, torch.bfloat16, enabled=self._bfloat16),
            recomputed(network.body, enabled=again),
        ):
            return network(packed)


class _Head(nn.Linear):
    """The head, which is divided by itself: what is divided together must have one type, and it is always float32."""


class _ValueNetwork(nn.Module):
    """The body of a causal language model with a linear head for values."""

    def __init__(self, body: nn.Module, policy: PreTrainedModel) -> None:
        super().__init__()
        self.body = cast("PreTrainedModel", body)
        self.head = _Head(policy.config.hidden_size, 1, device=policy.device)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, packed: Packed) -> Tensor:
        hidden = forward(self.body, packed).last_hidden_state
        values = self.head(hidden[packed.context.slice(packed.sampled)].float())[:, 0].float()
        return packed.context.join(values, packed.sampled)


def states(batch: Batch, wanted: Bools | None = None) -> list[TokenSequence]:
    """The sequences of a batch with `sampled` and `turn` at the state before each action: the id before its first one.

    Args:
        batch: the sequences.
        wanted: ``[actions]``, which actions; by default all.
    """
    left = np.ones(batch.num_turns, np.bool_) if wanted is None else wanted.copy()
    found: list[TokenSequence] = []
    for sequence in batch.sequences:
        turn = sequence.turn[1:]
        first = (turn >= 0) & (turn != sequence.turn[:-1])
        first[first] = left[turn[first]]
        # An action of several turns is in the sequence more than once: its first place counts.
        at = np.flatnonzero(first)
        at = at[np.sort(np.unique(turn[at], return_index=True)[1])]
        if not len(at):
            continue
        left[turn[at]] = False
        end = int(at[-1]) + 1
        marked = np.zeros(end, np.bool_)
        marked[at] = True
        row = np.full(end, -1, np.int64)
        row[at] = turn[at]
        found.append(TokenSequence(sequence.ids[:end], marked, np.zeros(end, np.float32), row))
    return found


def value_loss(values: Tensor, targets: Tensor, old: Tensor, clip: float | None) -> tuple[Tensor, Tensor]:
    """``(V - R)^2 / 2`` for each state, and whether its clip took effect.

    With `clip` the loss is the larger of that and the same with V at most `clip` away from the old value, as in the
    implementation of PPO by Schulman et al. (openai/baselines).
    """
    plain = (values - targets).square() / 2
    if clip is None:
        return plain, plain.new_zeros(len(plain), dtype=torch.bool)
    limited = (old + (values - old).clamp(-clip, clip) - targets).square() / 2
    return plain.maximum(limited), limited > plain


def explained_variance(targets: Floats, values: Floats) -> float:
    """``1 - Var(R - V) / Var(R)``: 1 if the values are the returns, 0 if they are no better than a constant."""
    spread = float(np.var(targets.astype(np.float64)))
    return 1 - float(np.var(targets.astype(np.float64) - values)) / spread if spread else 0.0
