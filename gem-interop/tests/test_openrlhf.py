"""Episodes by OpenRLHF's own rollout actor, generator and experience maker: what is trained was read and said."""

import asyncio
import copy
import runpy
import shlex
import sys
from dataclasses import replace
from types import SimpleNamespace

import openrlhf_parts as parts
import pytest
import ray
import torch
from agreement import (
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from openrlhf.datasets import PromptDataset
from openrlhf.datasets.utils import blending_datasets
from openrlhf_actor import LocalActor, ModelInPlaceOfVLLM, _load_agent_executor
from samples import run_launch_file, tiny_model, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING
from vllm import SamplingParams

from gem.errors import ConfigError
from gem_interop.openrlhf import Executor, rows
from gem_interop.playing import start_of

pytestmark = pytest.mark.filterwarnings("default")  # OpenRLHF's, Ray's and DeepSpeed's own
GROUPS, GROUP, LENGTH, TEMPERATURE = 25, 4, 256, 0.8


@pytest.fixture(scope="module")
def ray_here():
    with parts.ray_here():
        yield


@pytest.fixture(scope="module")
def played(ray_here, tmp_path_factory):
    """Experiences before their advantages, and the episodes that they are made of."""
    agent, results = parts.write_agent(tmp_path_factory.mktemp("openrlhf"), retries=0)
    actor = ray.remote(LocalActor).options(num_cpus=1).remote(agent)
    made = parts.generate(
        parts.settings(),
        tokenizer(),
        rows("interop_envs:Talk", GROUPS),
        [actor],
        max_len=LENGTH,
        temperature=TEMPERATURE,
    )
    ray.kill(actor)
    return made, parts.read_results(results)


def trained(made, estimator="group_norm"):
    """Batches by OpenRLHF's experience maker, and rows of its loss."""
    args = parts.settings(**{"algo.advantage.estimator": estimator})
    learner = parts.Learner(tiny_model(), TEMPERATURE)
    batches = parts.make_experiences(args, tokenizer(), learner, copy.deepcopy(made))
    return batches, parts.rows_of_the_loss(batches)


def test_it_trains_on_what_was_read_and_said(played):
    made, results = played
    assert len(made) == len(results) == GROUPS * GROUP
    assert_what_was_read_and_said_is_trained(trained(made)[1], results)
    assert_returns_are_those_of_a_replay(results)


@pytest.mark.parametrize("estimator", ["group_norm", "rloo", "dr_grpo", "reinforce_baseline"])
def test_a_failed_episode_is_not_a_zero_in_its_group(played, estimator):
    made, results = played
    batches, rows = trained(made, estimator)
    assert all(torch.isfinite(batch.advantages).all() for batch in batches)
    failed = [result for result in results if result.failure is not None]
    assert len([row for row in rows if not any(row.mask)]) == len(failed) > 5
    pairs = assert_what_was_read_and_said_is_trained(rows, results)
    # By hand, of those that did not fail.
    groups = {}
    for _, result in pairs:
        groups.setdefault(result.episode.seed, []).append(result.total_reward)
    means = {seed: sum(group) / len(group) for seed, group in groups.items()}
    expected = torch.tensor([result.total_reward - means[result.episode.seed] for _, result in pairs])
    if estimator == "reinforce_baseline":  # it normalises over all trained ids
        ids = torch.tensor([sum(row.mask) for row, _ in pairs]).float()
        expected -= (ids * expected).sum() / ids.sum()
        expected *= ((ids * expected**2).sum() / ids.sum()).rsqrt()
    else:
        assert_failed_episodes_are_left_out_of_their_groups(pairs)
    if estimator == "rloo":
        expected *= GROUP / (GROUP - 1)
    if estimator == "group_norm":
        squares = {seed: sum((each - means[seed]) ** 2 for each in group) for seed, group in groups.items()}
        expected /= torch.tensor([(squares[e.episode.seed] / (GROUP - 1)) ** 0.5 + 1e-9 for _, e in pairs])
    assert [row.advantage for row, _ in pairs] == pytest.approx(expected.tolist(), abs=1e-4)


def test_a_failed_episode_has_no_part_in_a_training_step(played):
    batches, _ = trained(played[0])
    seen, steepest = 0, 0.0
    for batch in batches:
        kept = batch.action_mask.any(-1)
        part = replace(batch, info={}, **{name: getattr(batch, name)[kept] for name in parts.COLUMNS})
        gradient = parts.gradient_of_a_step(tiny_model(), TEMPERATURE, batch)
        assert torch.isfinite(gradient).all()
        steepest = max(steepest, float(gradient.abs().max()))
        assert torch.allclose(gradient, parts.gradient_of_a_step(tiny_model(), TEMPERATURE, part), atol=1e-6)
        assert torch.isnan(batch.info["kl"]).tolist() == (~kept).tolist(), "the page says so"
        seen += int((~kept).sum())
    assert seen > 5
    assert steepest > 0.01


@pytest.fixture
def engine():
    actor = object.__new__(LocalActor)
    actor.llm, actor._mm_pad_token_ids = ModelInPlaceOfVLLM(tiny_model()), None
    return actor


def play(engine, executor, env, count=1, length=LENGTH, **parameters):
    """A group of episodes, as OpenRLHF's actor plays them."""
    engine.executor = executor
    given = SamplingParams(max_tokens=6, min_tokens=1, logprobs=1, **parameters)
    [row] = rows(env, 1)
    return engine.generate_responses(row["input"], "", given, length, tokenizer(), count)


def test_an_episode_that_failed_is_played_again(engine):
    executor = Executor(retries=20)
    responses = asyncio.run(play(engine, executor, "interop_envs:Talk", 40))
    assert all(response["extra_logs"]["gem_failed"] == 0 for response in responses)


def test_a_group_that_failed_has_the_mean_of_all_episodes(engine):
    async def both():
        executor = Executor(retries=0)
        known = await play(engine, executor, "interop_envs:Talk", 20)
        return known, await play(engine, executor, "interop_envs:Broken", 2)

    known, failed = asyncio.run(both())
    rewards = [each["reward"] for each in known if not each["extra_logs"]["gem_failed"]]
    assert [each["reward"] for each in failed] == pytest.approx([sum(rewards) / len(rewards)] * 2)
    assert [each["action_ranges"] for each in failed] == [[], []]


@pytest.mark.parametrize(
    ("env", "length", "why"),
    [
        ("interop_envs:Broken", LENGTH, "no episode could be played: OSError: the env is broken"),
        ("interop_envs:Talk", 8, "no episode could be played: its start does not fit --data.max_len 8"),
    ],
)
def test_when_nothing_can_be_played_the_reason_is_named(engine, env, length, why):
    with pytest.raises(RuntimeError, match=why):
        asyncio.run(play(engine, Executor(), env, 2, length))


def test_a_prompt_that_is_not_a_start_is_refused(engine):
    engine.executor = Executor()
    given = SamplingParams(max_tokens=6)
    with pytest.raises(ConfigError, match="start of an episode, made by the module's rows"):
        asyncio.run(engine.generate_responses("<|im_start|>user", "", given, LENGTH, tokenizer(), 2))


class Started(Exception):
    """OpenRLHF has accepted the settings."""


def test_the_launch_file_is_accepted_by_openrlhf(tmp_path, monkeypatch):
    tiny_model().config.save_pretrained(tmp_path)
    given = [tmp_path, "--env", "interop_envs:Talk", "--env", "core:Echo-v0", "--steps", "2", "--out", tmp_path]
    _, _, module, *options = shlex.split(run_launch_file("openrlhf_grpo.py", *given, "--dry-run"))

    def init(**_):
        raise Started

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(sys, "argv", [module, *options])
    with pytest.raises(Started) as started:
        runpy.run_module(module, run_name="__main__")
    args = next(entry.frame.f_locals["args"] for entry in started.traceback if entry.name == "train")

    strategy = SimpleNamespace(args=args, print=print, is_rank_0=lambda: True)
    data = PromptDataset(blending_datasets(args.data.prompt_dataset, strategy=strategy), tokenizer(), strategy)
    assert [data[index][:2] for index in range(len(data))] == [
        (row["datasource"], row["input"]) for row in rows(["interop_envs:Talk", "core:Echo-v0"], 32)
    ]
    assert isinstance(_load_agent_executor(str(args.train.agent_func_path)), Executor)


def test_without_logprobs_of_the_engine_it_passes_none(engine):
    [response] = asyncio.run(play(engine, Executor(), "interop_envs:Talk"))
    assert len(response["rollout_log_probs"]) == len(response["observation_tokens"])
    engine.executor = Executor(score="success")
    [row] = rows("interop_envs:Talk", 1)
    [response] = asyncio.run(
        engine.generate_responses(row["input"], "", SamplingParams(max_tokens=6), LENGTH, tokenizer())
    )
    assert response["rollout_log_probs"] is None
    assert response["reward"] == response["scores"]


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = rows(IDS, 3, SEED, evaluation=evaluation)
        assert [start_of(row["input"]) for row in made] == expected
