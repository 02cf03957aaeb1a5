"""Every `rg:` id: the names, the items, the scores, and what the settings do."""

import dataclasses
import random

import numpy as np
import pytest
from chosen_datasets import each_dataset
from reasoning_gym.factory import DATASETS

import gem
from gem.errors import ConfigError
from gem_envs_reasoning import datasets
from gem_envs_reasoning.plugin import NAMES

NO_ANSWER = {"boxnet", "rush_hour"}
"""reasoning-gym stores no answer for these."""
SLOW = {"futoshiki", "sokoban"}
"""Seconds for some items."""


def test_the_table_is_the_registry_of_the_installed_reasoning_gym():
    assert sorted(DATASETS) == list(NAMES)
    assert {spec.id for spec in gem.all_specs() if spec.namespace == "rg"} == {f"rg:{name}" for name in NAMES}


@each_dataset()
def test_the_stored_answer_is_a_success(name):
    env = gem.make(f"rg:{name}")
    experts = 0
    for seed in range(1 if name in SLOW else 3):
        question, _ = env.reset(seed=seed)
        assert "between <answer> and </answer>" in question
        action = env.expert_action()
        step = env.step(env.sample_action() if action is None else action)
        assert step.terminated
        assert "malformed" not in step.info
        if action is not None:
            experts += 1
            assert (step.reward, step.info) == (1.0, {"success": True})
    assert (experts > 0) == (name not in NO_ANSWER)


def test_settings_and_levels_shape_the_item():
    easy, hard = gem.make("rg:chain_sum", level=0), gem.make("rg:chain_sum", level=9, max_terms=12)
    assert len(easy.reset(seed=0)[0]) < len(hard.reset(seed=0)[0])
    assert gem.make("rg:chain_sum", min_terms=6, max_terms=6).reset(seed=0)[0].count(" + ") <= 5


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("chain_sum", {"min_term": 2}, "Did you mean 'min_terms'"),
        ("chain_sum", {"min_terms": 0}, "min_terms must be positive"),
        ("chain_sum", {"min_terms": "two"}, "It has: min_terms"),
        ("chain_sum", {"level": 99}, "level must be an integer from 0 to"),
        ("chain_sum", {"seed": 3}, "reset"),
        ("acre", {"level": 0}, "no levels"),
        ("codeio", {"difficulty": 11}, "difficulty"),
        ("codeio", {"difficulty": 4}, "no program of difficulty 4"),
        ("composite", {"datasets": []}, "at least one dataset"),
        ("chain_sum", {"dataset": "chain_sun"}, "Did you mean 'chain_sum'"),
    ],
)
def test_wrong_settings_are_refused_with_what_there_is(name, settings, message):
    with pytest.raises(ConfigError, match=message):
        gem.make(f"rg:{name}", **settings)


@pytest.mark.parametrize(("use_format_error_reward", "reward"), [(False, 0.0), (True, -0.1)])
def test_a_reply_without_an_answer_is_malformed(use_format_error_reward, reward):
    env = gem.make("rg:chain_sum", use_format_error_reward=use_format_error_reward)
    env.reset(seed=1)
    step = env.step("It is 7.")
    assert (step.reward, step.info) == (reward, {"success": False, "malformed": True})


def test_a_box_is_read_where_there_are_no_tags():
    env = gem.make("rg:chain_sum")
    env.reset(seed=1)
    assert env.step(f"\\boxed{{{env.item['answer']}}}").info["success"]


def test_a_scorer_that_cannot_read_an_answer_scores_nothing():
    env = gem.make("rg:prime_factorization")
    env.reset(seed=0)
    assert env.step("<answer>two</answer>").info == {"success": False}


@each_dataset(besides={"composite", *SLOW})
def test_an_item_is_the_one_of_a_dataset_that_is_built_with_its_seed(name):
    shared = datasets.build(name, datasets.configure(name, None, {}))
    for seed in (1, 2**32 - 1):
        config = dataclasses.replace(shared.config, seed=seed)
        drawn, new = datasets.draw(shared, name, seed), datasets.draw(datasets.build(name, config), name, seed)
        assert (drawn["question"], drawn["answer"]) == (new["question"], new["answer"])


@each_dataset(besides=SLOW)
def test_the_global_generators_are_not_drawn_from_and_do_not_matter(name):
    dataset = gem.make(f"rg:{name}")._dataset
    drawn = []
    for poison in (1, 2):
        random.seed(poison)
        np.random.seed(poison)  # noqa: NPY002
        before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
        drawn.append([datasets.draw.__wrapped__(dataset, name, seed) for seed in range(4)])
        assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002
    assert [str(item) for item in drawn[0]] == [str(item) for item in drawn[1]]


def test_a_mixture_asks_what_its_parts_ask():
    parts = [{"name": "gcd", "weight": 2.0}, {"name": "lcm", "config": {"max_value": 9}}]
    env = gem.make("rg:composite", datasets=parts)
    asked = set()
    for seed in range(20):
        env.reset(seed=seed)
        asked.add(env.item["metadata"]["source_dataset"])
    assert asked == {"gcd", "lcm"}
