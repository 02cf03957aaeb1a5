"""What the processes of a run compute together, for tests: `CALCULATIONS`, each of which is given the world."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
from torch.utils._pytree import tree_map_only

from gem_train.algorithms.ppo import PPO, PPOSettings
from gem_train.algorithms.settings import CriticSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.build import load_trained
from gem_train.config.sections import OptimConfig, UpdateConfig
from gem_train.distributed.processes import whole
from gem_train.distributed.shards import Stored, fill, planned, with_stored, without_tensors
from gem_train.distributed.world import World
from gem_train.learning.critic import Critic
from gem_train.learning.learner import Learner
from gem_train.learning.packing import pack
from gem_train.learning.scoring import score_tokens
from gem_train.models.loading import blocks_of, make_tiny
from gem_train.models.tiny import tiny_model, tiny_tokenizer
from gem_train.runs.saving import Checkpoints
from gem_train.sft.config import load_sft_config
from gem_train.sft.imitation import Imitator

OPTIM = OptimConfig(
    lr=1e-3,
    lr_end=1e-4,
    entropy=0.05,
    minibatches=2,
    micro_tokens=11,  # every sequence is a micro-batch: three in one minibatch and two in the other
    betas=(0.6, 0.8),
    weight_decay=0.1,
    grad_clip=0.1,
)


def batch() -> Batch:
    """Five sequences of random ids, two turns each, of which few were sampled under the weights of step 0."""
    rng = np.random.default_rng(0)
    sequences: list[TokenSequence] = []
    for index in range(5):
        turn = np.full(int(rng.integers(10, 30)), -1)
        turn[2:4], turn[6:9] = 2 * index, 2 * index + 1
        logprobs = np.where(turn >= 0, rng.normal(-5, 1, len(turn)), 0).astype(np.float32)
        sequences.append(TokenSequence(rng.integers(4, 256, len(turn)), turn >= 0, logprobs, turn))
    made = Batch.of(sequences, rng.normal(size=10).astype(np.float32), np.repeat(np.arange(5), 2))
    return replace(made, version=np.arange(10) % 4)


def exchanged(world: World) -> dict[str, Any]:
    """What the processes exchange by itself."""

    def stopped(work: Callable[[], Any]) -> str:
        try:
            return f"no error, {world.together(work)}"
        except BaseException as error:
            return repr(error)

    def fails_in_the_second() -> int:
        return 1 // (1 - world.rank)

    def is_interrupted_in_the_second() -> None:
        if world.rank:
            raise KeyboardInterrupt

    return {
        "rank": (world.rank, world.size),
        "gather": world.gather(f"of {world.rank}"),
        "first": world.first(lambda: f"of {world.rank}"),
        "together": world.together(lambda: f"of {world.rank}"),
        "error": stopped(fails_in_the_second),
        "interrupt": stopped(is_interrupted_in_the_second),
        "sum": world.sum(torch.tensor([1.0, 10.0]) * (world.rank + 1)),
    }


def filled(like: torch.Tensor, source: torch.Tensor | Stored) -> torch.Tensor:
    """A new tensor, divided as `like` is, that holds the whole `source`."""
    made = torch.zeros_like(like, requires_grad=False)
    fill(made, source)
    return made


def divided(world: World) -> dict[str, Any]:
    """A model that is divided among the processes, put together again."""
    model = tiny_model(tiny_tokenizer([]), seed=0).eval()
    start = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    world.shard(model, blocks_of(model))
    parameters = dict(model.named_parameters())
    return {
        "start": start,
        "whole": {name: whole(tensor.detach()) for name, tensor in parameters.items()},
        "collected": world.collect({name: tensor.detach() for name, tensor in parameters.items()}),
        "again": {name: whole(filled(tensor, start[name])) for name, tensor in parameters.items()},
        "held": sum(tensor.to_local().numel() if world.size > 1 else tensor.numel() for tensor in parameters.values()),
    }


def reading(world: World) -> dict[str, Any]:
    """Logits and gradients of a model that was read from a folder, by each process its part."""
    folder = Path(world.first(tempfile.mkdtemp))

    def save() -> None:
        tokenizer = tiny_tokenizer([])
        tiny_model(tokenizer, seed=0).save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    world.first(save)
    settings = {"id": "core:Echo-v0", "model": str(folder), "device": "cpu"}
    model = load_trained(load_sft_config([settings]), None, [], world=world).model
    world.gather("read")
    world.first(lambda: shutil.rmtree(folder))
    [row] = pack(batch().sequences, 10**4)
    scores = score_tokens(model, row, 1.0)
    scores.logprobs.sum().backward()
    gradients = {name: each.grad for name, each in model.named_parameters() if each.grad is not None}
    return {
        "held": sum(each.to_local().numel() if world.size > 1 else each.numel() for each in model.parameters()),
        "logprobs": scores.logprobs.detach(),
        "gradients": {name: whole(gradient).clone() for name, gradient in gradients.items()},
    }


def learning(world: World, *, half: bool = False, resumes: bool = True) -> dict[str, Any]:
    """An update with a critic and a reference; one more, and the same by a learner that resumed after the first."""
    algorithm = PPO(PPOSettings(kl=0.1, old_logprobs="learner", importance_cap=2.0))
    prepared = algorithm.prepare(batch())

    def made(weights: Mapping[str, torch.Tensor] | None = None) -> Learner:
        model = tiny_model(tiny_tokenizer([]), seed=0).eval()
        if weights is not None:
            model.load_state_dict(dict(weights), strict=False)  # the head is the embedding
        if half:
            for parameter in model.parameters():
                parameter.data = parameter.data.bfloat16()
        optim = UpdateConfig(micro_tokens=OPTIM.micro_tokens)
        chosen = CriticSettings(lr=1e-2, minibatches=2, clip=0.2, grad_clip=0.1)
        critic = Critic(model, chosen, optim, seed=0, world=world)
        world.shard(model, blocks_of(model))
        return Learner(model, OPTIM, steps=4, temperature=0.7, seed=7, critic=critic, world=world)

    def step(learner: Learner) -> dict[str, Any]:
        scores = learner.score(prepared, algorithm.needs)
        metrics = learner.update(prepared, scores, algorithm.credit(prepared, scores), algorithm.loss)
        assert (world.size > 1) == (metrics.pop("straggling", 0.0) >= 1)
        weights = {name: tensor.detach().clone() for name, tensor in learner.weights()}
        return {"scores": asdict(scores), "metrics": metrics, "weights": weights}

    learner = made()
    first = step(learner)
    if not resumes:
        return {"first": first}
    state = tree_map_only(torch.Tensor, lambda tensor: whole(tensor.detach()).clone(), learner.state())
    # As checkpoints do it: each process writes its part, and reads the part that it needs.
    plain, tensors = without_tensors(learner.state())
    folder = world.first(tempfile.mkdtemp)
    stored = Path(folder) / "state"
    planned(tensors, stored, world)()
    world.gather("written")
    resumed = made(first["weights"])
    resumed.restore(with_stored(plain, stored))
    world.gather("read")
    world.first(lambda: shutil.rmtree(folder))
    return {"first": first, "state": state, "second": step(learner), "resumed": step(resumed)}


def imitation(world: World) -> dict[str, Any]:
    """Two steps of each target."""
    found: dict[str, Any] = {}
    for target in ("actions", "all"):
        model = tiny_model(tiny_tokenizer([]), seed=0).eval()
        world.shard(model, blocks_of(model))
        imitator = Imitator(model, OPTIM, target, world=world)
        sequences = batch().sequences
        steps = [imitator.step(sequences, 1e-3) for _ in range(2)]
        weights = {name: whole(tensor.detach()).clone() for name, tensor in model.named_parameters()}
        found[target] = {"steps": steps, "loss": imitator.loss(sequences), "weights": weights}
    return found


def saved(world: World) -> dict[str, Any]:
    """The weights in a checkpoint of which the second process writes its part last."""
    loaded = make_tiny([], 0, device="cpu")
    start = {name: tensor.detach().clone() for name, tensor in loaded.model.named_parameters()}
    world.shard(loaded.model, blocks_of(loaded.model))
    parameters = {name: tensor.detach() for name, tensor in loaded.model.named_parameters()}
    run = Path(world.first(tempfile.mkdtemp))
    write = HuggingFaceStorageWriter.write_data

    def late(*arguments: Any) -> Any:
        while world.rank and not any((run / "checkpoint").glob("*step-1/state.pt")):  # the last that the first writes
            Event().wait(0.01)
        Event().wait(0.3 * world.rank)
        return write(*arguments)

    with patch.object(HuggingFaceStorageWriter, "write_data", late):
        checkpoints = Checkpoints(run, world)
        checkpoints.save(loaded, parameters, 1, None, keep=1)
        checkpoints.close(failed=False)
    world.gather("written")
    folder = run / "checkpoint" / "step-1"
    stored = with_stored(torch.load(folder / "state.pt", weights_only=False), folder / "tensors")
    found = {name: whole(filled(tensor, stored[name])) for name, tensor in parameters.items()}
    world.gather("read")
    world.first(lambda: shutil.rmtree(run))
    return {"start": start, "saved": found}


CALCULATIONS: dict[str, Callable[[World], Any]] = {
    "exchanged": exchanged,
    "divided": divided,
    "reading": reading,
    "float32": learning,
    "bfloat16": partial(learning, half=True, resumes=False),
    "resumed bfloat16": partial(learning, half=True),
    "imitation": imitation,
    "saved": saved,
}
