"""Warm-up: a model of random weights learns the environment's language by imitation, before it learns to win.

From random play the model learns which replies are well formed and how the environment answers them, and nothing about
winning; with an expert's play it is behaviour cloning.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from gem import seeding
from gem.rollout import rollout
from gem.rollout.policy import Policy
from gem.rollout.transcript import Episode
from gem.vector import VectorEnv
from gem_train.batch import collate
from gem_train.chat import ChatEncoder
from gem_train.config import OptimConfig, WarmupConfig
from gem_train.optimizer import make_optimizer
from gem_train.packing import pack
from gem_train.recomputation import recomputed
from gem_train.scoring import all_token_loss


def imitate(
    model: PreTrainedModel,
    chat: ChatEncoder,
    teacher: Policy,
    envs: VectorEnv,
    *,
    warmup: WarmupConfig,
    optim: OptimConfig,
    seed: int,
) -> Iterator[float]:
    """Train `model` on all tokens of what `teacher` plays; yields the loss of each step.

    Args:
        model: what is trained.
        chat: its tokenizer and chat template.
        teacher: the policy to imitate.
        envs: what it plays on.
        warmup: steps, episodes per step and learning rate.
        optim: the optimizer's other settings.
        seed: of the run.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = make_optimizer(trained, lr=warmup.lr, betas=optim.betas, weight_decay=optim.weight_decay)
    for step in range(warmup.steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup.lr * (1 - step / warmup.steps)
        seeds = (seeding.derive(seed, "warmup", step, index) for index in range(warmup.episodes))
        batch = collate(tokenized(episode, chat) for episode in rollout(teacher, envs, seeds))
        packed = pack(batch.sequences, optim.micro_tokens)
        tokens = sum(map(len, batch.sequences)) - len(batch.sequences)
        optimizer.zero_grad()
        total = 0.0
        for part in packed:
            with recomputed(model, enabled=optim.checkpointing):
                loss = all_token_loss(model, part.to(model.device)) / tokens
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(trained, optim.grad_clip)
        optimizer.step()
        yield total


def tokenized(episode: Episode, chat: ChatEncoder) -> Episode:
    """`episode` as if the engine had read and sampled it: each completion with its ids, and log-probabilities 0."""
    said = chat.as_sampled((turn.observation, turn.action) for turn in episode.turns)
    turns = (replace(turn, completion=completion) for turn, completion in zip(episode.turns, said, strict=True))
    return replace(episode, turns=tuple(turns))
