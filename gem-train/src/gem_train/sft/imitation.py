"""Imitation: a model learns to say what another policy said. `gemx sft`, and the warm-up of `gemx train`.

The warm-up teaches a model of random weights the environment's language before it learns to win: from random play it
learns which replies are well formed and how the environment answers them, and nothing about winning; with an expert's
play it is behaviour cloning.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from msgspec import structs
from torch import Tensor
from transformers import PreTrainedModel

from gem import seeding
from gem.chat.encoder import ChatEncoder
from gem.episode import Episode, Trace, Turn
from gem.rollout import Start
from gem.rollout.policy import Policy
from gem.rollout.starts import ByWeight
from gem.vector import VectorEnv
from gem_train.batch import TokenSequence, collate
from gem_train.config.sections import UpdateConfig, WarmupConfig
from gem_train.distributed.world import ALONE, World, flat
from gem_train.learning.head import Scorer, chunked_scores
from gem_train.learning.packing import Packed
from gem_train.learning.recomputation import recomputed
from gem_train.learning.scoring import score_tokens
from gem_train.learning.updates import Updates
from gem_train.play import played_in_order

Target = Literal["actions", "all"]
"""Ids that are imitated: those that were said, or every id that has one before it."""


class Imitator:
    """A model that is trained on the likelihood of what was said, and its optimizer.

    Args:
        model: what is trained: its parameters with `requires_grad`.
        optim: betas, weight decay, the limit of a gradient's norm, and the ids of a micro-batch.
        target: which ids are imitated.
        scorer: what computes log-probabilities.
        world: the processes that hold a part of the model each; every one of them is given the same sequences.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        optim: UpdateConfig,
        target: Target,
        scorer: Scorer = chunked_scores,
        world: World = ALONE,
    ) -> None:
        self._model = model
        self._checkpointing = optim.checkpointing
        self._target: Target = target
        self._scorer = scorer
        self._world = world
        self._updates = Updates(model, optim, world, model.device)

    def step(self, sequences: Sequence[TokenSequence], lr: float) -> dict[str, float]:
        """Change the weights once. Returns the mean `loss` per token in nats, the `tokens`, and the gradient's norm."""
        self._updates.clear()
        parts, tokens = self._parts(sequences)
        total = 0.0
        for part, counts in parts:
            with recomputed(self._model, enabled=self._checkpointing):
                loss = self._loss(part) / tokens
            # The gradients are means over the processes.
            (loss * counts * self._world.size).backward()
            total += loss.item() * counts
        total = sum(self._world.gather(total))
        return {"loss": total, "tokens": tokens, "grad_norm": self._updates.step(lr)}

    @torch.no_grad()  # inference mode would be that of the buffers too which FSDP makes in a first pass
    def loss(self, sequences: Sequence[TokenSequence]) -> float:
        """The mean loss per token in nats, without a change."""
        parts, tokens = self._parts(sequences)
        total = sum(self._loss(part).item() * counts for part, counts in parts)
        return sum(self._world.gather(total)) / tokens

    def _parts(self, sequences: Sequence[TokenSequence]) -> tuple[list[tuple[Packed, bool]], int]:
        """The micro-batches of this process, and how many ids of those of all processes are imitated."""
        parts = self._updates.deal(sequences)
        if self._target == "all":
            parts = [(replace(part, sampled=part.positions > 0), counts) for part, counts in parts]
        return parts, sum(self._world.gather(sum(int(part.sampled.sum()) * counts for part, counts in parts)))

    def _loss(self, part: Packed) -> Tensor:
        return -score_tokens(self._model, part, 1.0, scorer=self._scorer).logprobs.sum()

    def state(self) -> dict[str, Any]:
        """State for `restore`, besides the model's weights."""
        return {"optimizer": self._updates.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`; the model already has its weights."""
        self._updates.restore(state["optimizer"])


def imitate(
    model: PreTrainedModel,
    chat: ChatEncoder,
    teacher: Policy,
    envs: VectorEnv,
    *,
    warmup: WarmupConfig,
    optim: UpdateConfig,
    seed: int,
    place: Callable[[Start], Start] = lambda start: start,
    scorer: Scorer = chunked_scores,
    world: World = ALONE,
) -> Iterator[float]:
    """The warm-up: train `model` on all tokens of what `teacher` plays; yields the loss of each step.

    Args:
        model: what is trained.
        chat: its tokenizer and chat template.
        teacher: the policy to imitate.
        envs: what it plays on.
        warmup: steps, episodes per step and learning rate.
        optim: the optimizer's other settings.
        seed: of the run.
        place: adds to a start what it needs besides the seed, such as the row of a data set.
        scorer: what computes log-probabilities.
        world: the processes of the run. Each plays its share, and scores its share of all.
    """
    imitator = Imitator(model, optim, "all", scorer, world)
    for step in range(warmup.steps):
        seeds = (seeding.derive(seed, "warmup", step, index) for index in range(warmup.episodes))
        starts = world.share(list(map(place, map(ByWeight(envs.shares).start, seeds))))
        episodes = flat(world.together(lambda starts=starts: played_in_order(teacher, envs, starts)))
        batch = collate(tokenized(episode, chat) for episode in episodes)
        yield imitator.step(batch.sequences, warmup.lr * (1 - step / warmup.steps))["loss"]


def tokenized(episode: Episode, chat: ChatEncoder, limit: int | None = None) -> Episode:
    """`episode` as if the engine had read and sampled it: each completion with its ids, and log-probabilities 0.

    Args:
        episode: with turns of text.
        chat: the tokenizer and the chat template.
        limit: ids of a segment; the turn that exceeds it, and those after it, are left out.
    """
    return episode.each_trace(lambda trace: structs.replace(trace, turns=tuple(_sampled(trace, chat, limit))))


def _sampled(trace: Trace, chat: ChatEncoder, limit: int | None) -> Iterator[Turn]:
    said = chat.as_sampled(((turn.observation, turn.action) for turn in trace.turns), system=trace.system)
    length = 0
    for turn, completion in zip(trace.turns, said, strict=True):
        length = 0 if completion.new_segment else length
        length += len(completion.prompt_ids) + len(completion.ids)
        if limit is not None and length > limit:
            return
        yield structs.replace(turn, completion=completion)
