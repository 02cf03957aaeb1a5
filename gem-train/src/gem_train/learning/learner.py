"""The learner: updates the weights from batches and credit."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem_train.algorithms.base import Loss, Need, Scores, TokenTerms
from gem_train.algorithms.credit import Credit
from gem_train.batch import Batch, Floats, TokenSequence
from gem_train.config.sections import OptimConfig
from gem_train.distributed.processes import whole
from gem_train.distributed.shards import fill
from gem_train.distributed.world import ALONE, World
from gem_train.learning.critic import Critic
from gem_train.learning.head import Scorer, chunked_scores
from gem_train.learning.recomputation import recomputed
from gem_train.learning.scoring import score_tokens
from gem_train.learning.token_sums import TokenSums
from gem_train.learning.token_table import Columns, TokenTable
from gem_train.learning.updates import Updates, minibatches, warmed_up

_FIRST_SCALE, _SMALLEST_SCALE, _GROWTH = 0.1, 0.01, 1.2
"""The factor of the learning rate, with `max_kl`: at first, at least, and its growth per batch.

It is small at first because Adam's first steps are as long as its others, and their direction is mostly noise.
"""

LossFunction = Callable[[TokenTerms], Loss]
"""Function from the known terms of some tokens to their loss."""


class Learner:
    """A model and its optimizer.

    Everything random is derived from `seed` and `step`, so its state is the weights, the optimizer and `step`.

    Args:
        model: what is trained.
        config: of the optimizer.
        steps: of the whole run; schedules end with the last of them.
        temperature: at which the tokens were sampled.
        seed: of the order of minibatches.
        critic: what computes and learns `Scores.values`, if the algorithm needs them.
        scorer: what computes log-probabilities.
        world: the processes that hold a part of the model each; every one of them is given the same batches.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        config: OptimConfig,
        *,
        steps: int,
        temperature: float,
        seed: int,
        critic: Critic | None = None,
        scorer: Scorer = chunked_scores,
        world: World = ALONE,
    ) -> None:
        self.model = model
        self.step = 0
        """Updates made so far."""
        self._config, self._steps, self._temperature, self._seed = config, steps, temperature, seed
        self._critic, self._world = critic, world
        self.scorer = scorer
        """Function that computes log-probabilities."""
        # The mean entropy at the first update, and at the newest.
        self._entropies: tuple[float, float] | None = None
        self._needs_entropy = bool(config.entropy or config.entropy_end)
        # The weights before the first update, if an algorithm needs them.
        self._reference: list[Tensor] | None = None
        self._scale = 1.0 if config.max_kl is None else _FIRST_SCALE
        self._updates = Updates(model, config, world, model.device)

    def score(self, batch: Batch, needs: Collection[Need]) -> Scores:
        """The scores of a batch that an algorithm needs before the weights change.

        The reference is the model before its first update: that of the first call.
        """
        reference = None
        if "reference_logprobs" in needs:
            if self._reference is None:
                self._reference = [parameter.detach().clone() for parameter in self._updates.parameters]
            with self._reference_weights():
                reference = self._logprobs(batch)
        return Scores(
            old_logprobs=self._logprobs(batch) if "old_logprobs" in needs else None,
            reference_logprobs=reference,
            values=self._critic.values(batch) if self._critic is not None and "values" in needs else None,
        )

    @contextmanager
    def _reference_weights(self) -> Generator[None]:
        """Put the weights of the reference in the place of the model's."""
        self._exchange_with_reference()
        try:
            yield
        finally:
            self._exchange_with_reference()

    @torch.no_grad()
    def _exchange_with_reference(self) -> None:
        # In place: the weights of several processes are parts of larger buffers.
        assert self._reference is not None
        for parameter, other in zip(self._updates.parameters, self._reference, strict=True):
            kept = parameter.clone()
            parameter.copy_(other)
            other.copy_(kept)

    @torch.no_grad()  # inference mode would be that of the buffers too which FSDP makes in a first pass
    def _logprobs(self, batch: Batch) -> tuple[Floats, ...]:
        lengths = [len(sequence) for sequence in batch.sequences]
        found = torch.zeros(sum(lengths), device=self.model.device)
        for part, counts in self._updates.deal(batch.sequences):
            scores = score_tokens(self.model, part, self._temperature, scorer=self.scorer)
            found[part.index[part.sampled]] = scores.logprobs * counts
        # Every token was scored by one process, and is 0 in the others.
        return tuple(array.numpy() for array in self._world.sum(found.cpu()).split(lengths))

    def update(self, batch: Batch, scores: Scores, credit: Credit, loss: LossFunction) -> dict[str, float]:
        """Change the weights: some epochs over the batch in minibatches. Returns means over the tokens that were used.

        If every advantage is 0, only the step and the critic change: neither the entropy bonus nor the optimizer's
        momentum or weight decay touches the weights, and the metric `signal` is 0. Otherwise `signal` is 1.

        With `max_kl`, a minibatch whose KL divergence from the sampling model exceeds it is left out with the rest of
        the batch, and the learning rate is halved; it grows back by a fifth with each batch that stays within. Nor does
        a minibatch change the weights of which every token was rejected.

        `engine_gap` is the mean difference between the log-probabilities of engine and learner, of the tokens of the
        first minibatch that were sampled under the weights of this step, and `engine_gap_max` the largest.
        """
        optim = self._config
        signal = bool(credit.advantages[batch.trained].any())
        lr = warmed_up(self._scheduled(optim.lr, optim.lr_end), self.step, optim.warmup_steps) * self._scale
        entropy = self._scheduled(optim.entropy, optim.entropy_end)
        if self._entropies is not None and self._entropies[1] > self._entropies[0]:
            # The bonus keeps the model exploring, but not more than at first: with rare rewards it would outweigh
            # them, and replies would become noise.
            entropy = 0.0
        if not any(sequence.sampled.any() for sequence in batch.sequences):
            # Every action was left out, such as all replies that were cut: the step only reports.
            said = tuple(replace(sequence, sampled=sequence.turn >= 0) for sequence in batch.sequences)
            batch, scores = replace(batch, sequences=said), Scores(values=scores.values)
        table = TokenTable.of(batch, scores, credit, self.step)
        trained = np.flatnonzero([sequence.sampled.any() for sequence in batch.sequences])
        seen = TokenSums()
        norms: list[float] = []
        too_far = False
        orders = (self._seed, "minibatches", self.step)
        for chosen in minibatches(trained, optim.epochs if signal else 1, optim.minibatches, *orders):
            sequences = [batch.sequences[index] for index in chosen]
            columns = table.rows(chosen, self.model.device)
            gap = table.is_current(chosen, self.model.device) if not seen.tokens else None
            with torch.set_grad_enabled(signal):
                sums, used = self._gradients(sequences, columns, entropy, loss, gap)
            seen.add(sums)
            too_far = self._is_too_far(sums.means())
            if too_far:
                break
            if used:
                norms.append(self._updates.step(lr))
        if signal and optim.max_kl is not None:
            self._scale = max(_SMALLEST_SCALE, self._scale / 2) if too_far else min(1.0, self._scale * _GROWTH)
        means = seen.means()
        if self._critic is not None and scores.values is not None:
            means |= self._critic.update(batch, credit.returns, scores.values, self.step)
        self.step += 1
        if "entropy" in means:
            self._entropies = (self._entropies[0] if self._entropies else means["entropy"], means["entropy"])
        norm = float(np.mean(norms)) if norms else 0.0
        return {"lr": lr, "signal": float(signal), "grad_norm": norm, **self._updates.metrics(), **means}

    def _is_too_far(self, metrics: Mapping[str, float]) -> bool:
        """True if earlier minibatches of the batch moved the model so far that this one is left out."""
        limit = self._config.max_kl
        return limit is not None and metrics.get("kl", 0.0) > limit

    def _scheduled(self, first: float, last: float | None) -> float:
        """A setting that changes linearly from the first step of the run to its last."""
        if last is None or self._steps == 1:
            return first
        return first + (last - first) * self.step / (self._steps - 1)

    def _gradients(
        self,
        sequences: Sequence[TokenSequence],
        columns: Columns,
        entropy_weight: float,
        loss: LossFunction,
        current: Tensor | None,
    ) -> tuple[TokenSums, bool]:
        """Leave the gradient of a minibatch in the weights; returns the sums of its metrics, and if there is one.

        The parts' losses are sums, and the gradient is divided once at the end, so neither the parts change it nor the
        number of processes that they are dealt to.
        """
        sums = TokenSums()
        normaliser = torch.zeros((), device=self.model.device)
        self._updates.clear()
        for part, counts in self._updates.deal(sequences):
            with recomputed(self.model, enabled=self._config.checkpointing and torch.is_grad_enabled()):
                scores = score_tokens(
                    self.model, part, self._temperature, entropy=self._needs_entropy, scorer=self.scorer
                )
            index = part.index[part.sampled]
            known = {name: column[index] for name, column in columns.items()}
            terms = TokenTerms(logprobs=scores.logprobs, entropy=scores.entropy, entropy_weight=entropy_weight, **known)
            found = loss(terms)
            if torch.is_grad_enabled():
                (found.total * counts).backward()
            if not counts:
                continue
            normaliser += found.normaliser
            sums.take(found.metrics, len(index))
            if current is not None:
                sums.take_gaps((terms.logprobs.detach() - terms.engine_logprobs).abs()[current[index]])
        # The gradients are means over the processes, so it is the mean that makes them those of the whole.
        mean = fmean(self._world.gather(float(normaliser))) if torch.is_grad_enabled() else 0.0
        if mean:
            self._updates.divide(mean)
        return sums.over(self._world), bool(mean)

    def free_gradients(self) -> None:
        """Free the gradients that `update` left: the sampler may need their memory."""
        self._updates.clear()

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter that is trained by name, for the `load` of a sampler."""
        return (
            (name, whole(tensor)) for name, tensor in zip(self._updates.names, self._updates.parameters, strict=True)
        )

    def state(self) -> dict[str, Any]:
        """State for `restore`, besides the model's weights."""
        return {
            "step": self.step,
            "optimizer": self._updates.state(),
            "entropies": self._entropies,
            "scale": self._scale,
            "reference": self._reference,
            "critic": None if self._critic is None else self._critic.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`; the model already has its weights."""
        self.step = state["step"]
        self._entropies, self._scale = state["entropies"], state["scale"]
        self._updates.restore(state["optimizer"])
        if self._critic is not None:
            self._critic.restore(state["critic"])
        self._reference = None
        if state["reference"] is not None:
            self._reference = [torch.empty_like(each, requires_grad=False) for each in self._updates.parameters]
            for own, tensor in zip(self._reference, state["reference"], strict=True):
                fill(own, tensor)
