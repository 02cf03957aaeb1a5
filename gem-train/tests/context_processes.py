"""What processes that share sequences compute, for tests: `CALCULATIONS`, each of which is given the world."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import torch
import transformers
from transformers import PreTrainedModel

from gem.errors import ConfigError
from gem_train.algorithms.ppo import PPO, PPOSettings
from gem_train.algorithms.settings import CriticSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.config.sections import LoraConfig, OptimConfig
from gem_train.distributed.processes import whole
from gem_train.distributed.world import World
from gem_train.learning.attention import NAME
from gem_train.learning.critic import Critic
from gem_train.learning.learner import Learner
from gem_train.learning.packing import pack
from gem_train.learning.scoring import forward, score_tokens
from gem_train.models.checks import check_context, use_packed_attention
from gem_train.models.loading import blocks_of
from gem_train.models.lora import choose_trained
from gem_train.sft.imitation import Imitator

SMALL: dict[str, Any] = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 1,
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "grouped": ("Qwen3", {"head_dim": 16}),
    "learned positions": ("GPT2", {}),
    "window": ("Mistral", {"sliding_window": 16}),
    "scaled logits": ("Cohere", {}),
}
LENGTHS = 61, 3, 22, 9, 30, 4, 17, 40, 11
"""Of sequences: one is longer than half of any row that it is in, and none fits its slices."""


def make(name: str, settings: dict[str, Any] | None = None) -> PreTrainedModel:
    """A model with weights so large that attention matters."""
    config = getattr(transformers, f"{name}Config")(**{**SMALL, **(settings or {})})
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)
    model.set_attn_implementation(NAME)
    return model


def sequences() -> list[TokenSequence]:
    """Sequences of random ids, of which about a third were sampled, in two turns each."""
    rng = np.random.default_rng(0)
    made: list[TokenSequence] = []
    for index, length in enumerate(LENGTHS):
        sampled = rng.random(length) < 0.3
        sampled[:2], sampled[-1] = False, True
        turn = np.where(sampled, 2 * index + (np.arange(length) > length // 2), -1)
        logprobs = np.where(sampled, rng.normal(-4, 0.5, length), 0).astype(np.float32)
        made.append(TokenSequence(rng.integers(2, 96, length), sampled, logprobs, turn))
    return made


def passes(world: World, name: str) -> dict[str, Any]:
    """Logits, scores and gradients of each row, of the whole model in each process."""
    model, context = make(*MODELS[name]), world.context
    found: dict[str, Any] = {}
    for number, packed in enumerate(pack(sequences(), 100 // context.size, context=context)):
        every = torch.ones_like(packed.sampled)
        own = forward(model, packed).logits[0][context.slice(every)[0]]
        scores = score_tokens(model, packed, 0.7, entropy=True)
        assert scores.entropy is not None
        weights = torch.randn(2, len(scores.logprobs), generator=torch.Generator().manual_seed(1))
        loss = (weights[0] * scores.logprobs + weights[1] * scores.entropy).sum()
        model.zero_grad()
        (loss * (context.rank == 0)).backward()
        gradients = [world.sum(part.grad) for part in model.parameters() if part.grad is not None]
        found[f"row {number}"] = {
            "logits": context.join(own.detach().T, every),
            "scores": tuple(part.detach() for part in scores),
            "gradient": torch.cat([gradient.flatten() for gradient in gradients]) / (world.size / context.size),
        }
    return found


def learning(world: World, *, adapter: bool = False, checkpointing: bool = False) -> dict[str, Any]:
    """Two updates of PPO, with a critic and a reference; gradients are those of the last minibatch."""
    algorithm = PPO(PPOSettings(kl=0.1, old_logprobs="learner"))
    given = sequences()
    turns = 2 * len(given)
    rewards = np.random.default_rng(1).normal(size=turns).astype(np.float32)
    batch = algorithm.prepare(Batch.of(given, rewards, np.repeat(np.arange(len(given)), 2)))
    optim = OptimConfig(lr=1e-3, entropy=0.05, minibatches=2, micro_tokens=45, checkpointing=checkpointing)
    model = make("Qwen3", {"head_dim": 16})
    if adapter:
        choose_trained(model, LoraConfig(rank=2), 0)
    critic = Critic(model, CriticSettings(lr=1e-2, minibatches=1), optim, seed=0, world=world)
    world.shard(model, blocks_of(model))
    learner = Learner(model, optim, steps=2, temperature=0.7, seed=7, critic=critic, world=world)
    found: dict[str, Any] = {}
    for step in ("first", "second"):
        scores = learner.score(batch, algorithm.needs)
        metrics = learner.update(batch, scores, algorithm.credit(batch, scores), algorithm.loss)
        gradients = [whole(part.grad) for part in model.parameters() if part.grad is not None]
        found[step] = {
            "scores": asdict(scores),
            "metrics": metrics,
            "gradient": torch.cat([gradient.flatten() for gradient in gradients]),
            "weights": {name: tensor.detach().clone() for name, tensor in learner.weights()},
        }
    return found


def imitation(world: World) -> dict[str, Any]:
    """Steps that imitate every id, and the loss after them."""
    model = make("Qwen3", {"head_dim": 16})
    world.shard(model, blocks_of(model))
    imitator = Imitator(model, OptimConfig(micro_tokens=45), "all", world=world)
    steps = [imitator.step(sequences(), 1e-3) for _ in range(2)]
    return {"steps": steps, "loss": imitator.loss(sequences())}


def refusals(world: World) -> dict[str, str]:
    """What models are told that cannot be computed by slices, and the one that can."""

    def told(model: PreTrainedModel, packed_attention: bool) -> str:
        if packed_attention:
            use_packed_attention(model, "sdpa")
        else:
            model.set_attn_implementation("sdpa")
        try:
            check_context(model, world.context)
        except ConfigError as error:
            return str(error)
        return "fits"

    three = {"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": 16}
    return {
        "grouped": told(make("Qwen3"), True),
        "three heads": told(make("Qwen3", three), True),
        "attention of its own": told(make("Qwen3"), False),
    }


CALCULATIONS: dict[str, Callable[[World], Any]] = {
    **{name: partial(passes, name=name) for name in MODELS},
    "learning": partial(learning, checkpointing=True),
    "imitation": imitation,
    "adapter": partial(learning, adapter=True),
    "refusals": refusals,
}
