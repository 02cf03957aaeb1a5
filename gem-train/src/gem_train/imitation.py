"""Warm-up: a model of random weights learns the environment's language from play, before it learns to win.

With random play the model learns which replies are well formed and what the environment says to them, and nothing
about winning; with an expert's it is behaviour cloning.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from gem import seeding
from gem.rollout import rollout
from gem.rollout.policy import Policy
from gem.rollout.transcript import Completion, Episode, Transcript
from gem.vector import VectorEnv
from gem_train.batch import collate
from gem_train.chat import ChatEncoder
from gem_train.config import TrainConfig
from gem_train.packing import pack
from gem_train.scoring import all_token_loss


def imitate(
    model: PreTrainedModel, chat: ChatEncoder, policy: Policy, envs: VectorEnv, config: TrainConfig
) -> Iterator[float]:
    """Train `model` on what `policy` plays, on all tokens; yields the loss of each step."""
    warmup, optim = config.warmup, config.optim
    optimizer = torch.optim.AdamW(model.parameters(), lr=warmup.lr, betas=optim.betas, weight_decay=optim.weight_decay)
    for step in range(warmup.steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup.lr * (1 - step / warmup.steps)
        seeds = (seeding.derive(config.seed, "warmup", step, index) for index in range(warmup.episodes))
        batch = collate(tokenised(episode, chat) for episode in rollout(policy, envs, seeds))
        packed = pack(batch.sequences, optim.row_tokens).to(model.device)
        loss = all_token_loss(model, packed)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), optim.grad_clip)
        optimizer.step()
        yield loss.item()


def tokenised(episode: Episode, chat: ChatEncoder) -> Episode:
    """`episode` as if the engine had read and sampled it: each completion with its ids (and no log-probabilities)."""
    context: list[int] = []
    past = Transcript("")
    turns = list(episode.turns)
    for index, turn in enumerate(episode.turns):
        past.observation = turn.observation
        prompt = chat.prompt(past, context)
        said = (*chat.encode(turn.action), chat.end_id)
        if prompt.new_segment:
            context = []
        context += [*prompt.ids, *said]
        completion = Completion(
            turn.action, prompt.ids, said, (0.0,) * len(said), "stop", new_segment=prompt.new_segment
        )
        turns[index] = replace(turn, completion=completion)
        past.turns.append(turns[index])
    return replace(episode, turns=tuple(turns))
