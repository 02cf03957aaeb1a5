"""Imitation: a model learns to say what another policy said. `gemx sft`, and the warm-up of `gemx train`.

The warm-up teaches a model of random weights the environment's language before it learns to win: from random play it
learns which replies are well formed and how the environment answers them, and nothing about winning; with an expert's
play it is behaviour cloning.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem import seeding
from gem.chat.encoder import ChatEncoder
from gem.rollout import Start, assign
from gem.rollout.policy import Policy
from gem.rollout.transcript import Episode
from gem.vector import VectorEnv
from gem_train.batch import TokenSequence, collate
from gem_train.config.sections import OptimConfig, WarmupConfig
from gem_train.distributed.processes import own_optimizer_state, whole
from gem_train.distributed.world import ALONE, World, flat
from gem_train.learning.head import Scorer, chunked_scores
from gem_train.learning.optimizer import make_optimizer
from gem_train.learning.packing import Packed, pack
from gem_train.learning.recomputation import recomputed
from gem_train.learning.scoring import score_tokens
from gem_train.play import played_in_order
from gem_train.sft.config import SFTOptimConfig

Target = Literal["actions", "all"]
"""Which ids are imitated: those that were said, or every id that has one before it."""


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
        optim: OptimConfig | SFTOptimConfig,
        target: Target,
        scorer: Scorer = chunked_scores,
        world: World = ALONE,
    ) -> None:
        self._model = model
        self._optim = optim
        self._target: Target = target
        self._scorer = scorer
        self._world = world
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._optimizer = make_optimizer(
            self._trained, lr=optim.lr, betas=optim.betas, weight_decay=optim.weight_decay, offload=optim.offload
        )

    def step(self, sequences: Sequence[TokenSequence], lr: float) -> dict[str, float]:
        """Change the weights once. Returns the mean `loss` per token in nats, the `tokens`, and the gradient's norm."""
        self._optimizer.zero_grad()
        parts, tokens = self._parts(sequences)
        total = 0.0
        for part, counts in self._world.deal(parts):
            with recomputed(self._model, enabled=self._optim.checkpointing):
                loss = self._loss(part) / tokens
            # The gradients are means over the processes.
            (loss * counts * self._world.size).backward()
            total += loss.item() * counts
        total = sum(self._world.gather(total))
        norm = whole(torch.nn.utils.clip_grad_norm_(self._trained, self._optim.grad_clip)).item()
        for group in self._optimizer.param_groups:
            group["lr"] = lr
        self._optimizer.step()
        return {"loss": total, "tokens": tokens, "grad_norm": norm}

    @torch.no_grad()  # inference mode would be that of the buffers too which FSDP makes in a first pass
    def loss(self, sequences: Sequence[TokenSequence]) -> float:
        """The mean loss per token in nats, without a change."""
        parts, tokens = self._parts(sequences)
        total = sum(self._loss(part).item() * counts for part, counts in self._world.deal(parts))
        return sum(self._world.gather(total)) / tokens

    def _parts(self, sequences: Sequence[TokenSequence]) -> tuple[list[Packed], int]:
        """The micro-batches, and how many ids of all of them together are imitated."""
        limit = self._world.portion(self._optim.micro_tokens, sum(map(len, sequences)))
        parts = [part.to(self._model.device) for part in pack(sequences, limit)]
        if self._target == "all":
            parts = [replace(part, sampled=part.positions > 0) for part in parts]
        return parts, sum(int(part.sampled.sum()) for part in parts)

    def _loss(self, part: Packed) -> Tensor:
        return -score_tokens(self._model, part, 1.0, scorer=self._scorer).logprobs.sum()

    def state(self) -> dict[str, Any]:
        """What `restore` needs besides the model's weights."""
        return {"optimizer": self._world.collect(self._optimizer.state_dict())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`; the model already has its weights."""
        self._optimizer.load_state_dict(own_optimizer_state(state["optimizer"], self._trained))


def imitate(
    model: PreTrainedModel,
    chat: ChatEncoder,
    teacher: Policy,
    envs: VectorEnv,
    *,
    warmup: WarmupConfig,
    optim: OptimConfig,
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
        starts = world.share(list(map(place, assign(seeds, envs.shares))))
        episodes = flat(world.together(lambda starts=starts: list(played_in_order(teacher, envs, starts))))
        batch = collate(tokenized(episode, chat) for episode in episodes)
        yield imitator.step(batch.sequences, warmup.lr * (1 - step / warmup.steps))["loss"]


def tokenized(episode: Episode, chat: ChatEncoder, limit: int | None = None) -> Episode:
    """`episode` as if the engine had read and sampled it: each completion with its ids, and log-probabilities 0.

    Args:
        episode: with turns of text.
        chat: the tokenizer and the chat template.
        limit: ids of a segment; the turn that exceeds it, and those after it, are left out.
    """
    said = chat.as_sampled((turn.observation, turn.action) for turn in episode.turns)
    turns = [replace(turn, completion=completion) for turn, completion in zip(episode.turns, said, strict=True)]
    length = 0
    for index, turn in enumerate(turns):
        length = 0 if turn.completion.new_segment else length
        length += len(turn.completion.prompt_ids) + len(turn.completion.ids)
        if limit is not None and length > limit:
            del turns[index:]
            break
    return replace(episode, turns=tuple(turns))
