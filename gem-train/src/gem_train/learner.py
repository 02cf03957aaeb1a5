"""The learner: updates the weights from batches and credit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem import seeding
from gem_train.algorithms.base import Need, Scores, TokenTerms
from gem_train.batch import Batch, Floats, TokenSequence
from gem_train.config import OptimConfig
from gem_train.credit import Credit
from gem_train.packing import Packed, pack
from gem_train.scoring import score_tokens

_FIRST_SCALE, _SMALLEST_SCALE, _GROWTH = 0.1, 0.01, 1.2
"""The factor of the learning rate, with `max_kl`: at first, at least, and its growth per batch.

It is small at first because Adam's first steps are as long as its others, and their direction is mostly noise.
"""

LossTerms = tuple[Tensor, dict[str, Tensor]]
"""The loss summed over tokens, and means to report by name."""
MinibatchLoss = Callable[[TokenTerms], LossTerms]
"""From what is known about the tokens of a minibatch to their loss."""
Loss = Callable[[TokenTerms, float], LossTerms]
"""The same, given the weight of the entropy bonus too."""


class Learner:
    """A model and its optimizer.

    Everything random is derived from `seed` and `step`, so its state is the weights, the optimizer and `step`.

    Args:
        model: what is trained.
        config: of the optimizer.
        steps: of the whole run; schedules end with the last of them.
        temperature: at which the tokens were sampled.
        seed: of the order of minibatches.
    """

    def __init__(
        self, model: PreTrainedModel, config: OptimConfig, *, steps: int, temperature: float, seed: int
    ) -> None:
        self.model = model
        self.step = 0
        """Updates made so far."""
        self._config = config
        self._steps = steps
        self._temperature = temperature
        self._seed = seed
        # The mean entropy at the first update, and at the newest.
        self._entropies: tuple[float, float] | None = None
        self._scale = 1.0 if config.max_kl is None else _FIRST_SCALE
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._trained, lr=config.lr, betas=config.betas, weight_decay=config.weight_decay, fused=True
        )

    def score(self, batch: Batch, needs: Iterable[Need]) -> Scores:
        """The scores of a batch that an algorithm needs before the weights change."""
        return Scores(old_logprobs=self._old_logprobs(batch) if "old_logprobs" in needs else None)

    @torch.inference_mode()
    def _old_logprobs(self, batch: Batch) -> tuple[Floats, ...]:
        found: list[Floats] = []
        for sequence in batch.sequences:
            logprobs = np.zeros(len(sequence), np.float32)
            scores = score_tokens(self.model, self._pack([sequence]), self._temperature)
            logprobs[sequence.sampled] = scores.logprobs.cpu().numpy()
            found.append(logprobs)
        return tuple(found)

    def update(self, batch: Batch, scores: Scores, credit: Credit, loss: Loss) -> dict[str, float]:
        """Change the weights: some epochs over the batch in minibatches. Returns means over the minibatches.

        If every advantage is 0, only the step changes: neither the entropy bonus nor the optimizer's momentum or weight
        decay touches the weights, and the metric `signal` is 0. Otherwise `signal` is 1.

        With `max_kl`, a minibatch whose KL divergence from the sampling model exceeds it is left out with the rest of
        the batch, and the learning rate is halved; it grows back by a fifth with each batch that stays within.
        """
        optim = self._config
        signal = bool(credit.advantages.any())
        lr = self._scheduled(optim.lr, optim.lr_end) * self._scale
        entropy = self._scheduled(optim.entropy, optim.entropy_end)
        if self._entropies is not None and self._entropies[1] > self._entropies[0]:
            # The bonus keeps the model exploring, but not more than at first: with rare rewards it would outweigh
            # them, and replies would become noise.
            entropy = 0.0
        sequences = batch.sequences
        if scores.old_logprobs is not None:
            pairs = zip(sequences, scores.old_logprobs, strict=True)
            sequences = tuple(replace(sequence, logprobs=old) for sequence, old in pairs)
        for group in self._optimizer.param_groups:
            group["lr"] = lr
        gathered: dict[str, list[float]] = {}
        too_far = False
        for epoch in range(optim.epochs if signal else 1):
            for chosen in self._minibatches(len(sequences), epoch):
                with torch.set_grad_enabled(signal):
                    metrics = self._minibatch_step(
                        [sequences[index] for index in chosen], credit, lambda terms: loss(terms, entropy)
                    )
                for name, value in metrics.items():
                    gathered.setdefault(name, []).append(value)
                too_far = self._is_too_far(metrics)
                if too_far:
                    break
            if too_far:
                break
        if signal and optim.max_kl is not None:
            self._scale = max(_SMALLEST_SCALE, self._scale / 2) if too_far else min(1.0, self._scale * _GROWTH)
        self.step += 1
        means = {name: float(np.mean(values)) for name, values in gathered.items()}
        if "entropy" in means:
            self._entropies = (self._entropies[0] if self._entropies else means["entropy"], means["entropy"])
        return {"lr": lr, "signal": float(signal), **means}

    def _is_too_far(self, metrics: Mapping[str, float]) -> bool:
        """Whether earlier minibatches of the batch moved the model so far that this one is left out."""
        limit = self._config.max_kl
        return limit is not None and metrics.get("kl", 0.0) > limit

    def _scheduled(self, first: float, last: float | None) -> float:
        """A setting that changes linearly from the first step of the run to its last."""
        if last is None or self._steps == 1:
            return first
        return first + (last - first) * self.step / (self._steps - 1)

    def _minibatches(self, count: int, epoch: int) -> Iterator[np.ndarray]:
        order = np.random.default_rng(seeding.derive(self._seed, "minibatches", self.step, epoch)).permutation(count)
        return iter(np.array_split(order, min(self._config.minibatches, count)))

    def _minibatch_step(
        self, sequences: Sequence[TokenSequence], credit: Credit, loss: MinibatchLoss
    ) -> dict[str, float]:
        packed = self._pack(sequences)
        tokens = packed.sampled.sum()
        sums: dict[str, Tensor] = {}
        self._optimizer.zero_grad(set_to_none=True)
        for part in packed.split(self._config.micro_rows):
            summed, metrics = loss(self._terms(part, credit))
            if torch.is_grad_enabled():
                (summed / tokens).backward()
            weight = part.sampled.sum() / tokens
            for name, value in metrics.items():
                sums[name] = sums.get(name, torch.zeros((), device=value.device)) + value * weight
        norm = 0.0
        means = {name: value.item() for name, value in sums.items()}
        if torch.is_grad_enabled() and not self._is_too_far(means):
            norm = torch.nn.utils.clip_grad_norm_(self._trained, self._config.grad_clip).item()
            self._optimizer.step()
        return {"grad_norm": norm, **means}

    def _terms(self, part: Packed, credit: Credit) -> TokenTerms:
        scores = score_tokens(self.model, part, self._temperature)
        turn = part.turn[part.sampled]
        advantages = torch.from_numpy(credit.advantages).to(turn.device)[turn]
        return TokenTerms(scores.logprobs, part.logprobs[part.sampled], scores.entropy, advantages)

    def _pack(self, sequences: Sequence[TokenSequence]) -> Packed:
        return pack(sequences, self._config.row_tokens).to(self.model.device)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter that is trained by name, for the `load` of a sampler."""
        return ((name, tensor) for name, tensor in self.model.named_parameters() if tensor.requires_grad)

    def state(self) -> dict[str, Any]:
        """What `restore` needs besides the model's weights."""
        return {
            "step": self.step,
            "optimizer": self._optimizer.state_dict(),
            "entropies": self._entropies,
            "scale": self._scale,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`; the model already has its weights."""
        self.step = state["step"]
        self._entropies, self._scale = state["entropies"], state["scale"]
        self._optimizer.load_state_dict(state["optimizer"])
