"""Names of gem-llm: the calls of RL2 (commit 9161ede), written anew. Those of ROLL: tests/test_gem_llm_names.py."""

import random

import pytest

import gem
from gem.errors import ConfigError
from gem_interop import gem_llm
from gem_interop.gem_llm import WRAPPER_FACTORY, Env, get_wrapper_fns

TALK = "interop_envs:Talk"


def test_the_calls_of_rl2_play_the_episodes_of_their_seeds() -> None:
    pool = []
    for number in range(4):
        env = gem_llm.make(env_id=TALK, seed=233 + number)
        for wrapper in get_wrapper_fns("", tokenizer=None):
            env = wrapper(env)
        pool.append(env)

    for number, env in enumerate(pool):
        ours = gem.make(TALK)
        assert env.reset() == ours.reset(seed=233 + number)
        done = False
        while not done:
            step = env.step("well")
            assert step == ours.step("well")
            _, _, terminated, truncated, _ = step
            done = terminated or truncated
        assert env.reset() == ours.reset()  # the next episode of the same generators
    assert pool[0].reset(5) == gem.make(TALK).reset(seed=5)


def test_a_truncated_episode_is_terminated_too_as_roll_expects() -> None:
    env = gem_llm.make(TALK, max_turns=1)
    seed = next(seed for seed in range(9) if "1 rounds" not in env.reset(seed)[0])

    env.reset(seed)
    assert env.step("yes")[2:4] == (True, True)


class Walk(Env):
    """An env of a framework."""

    def reset(self, seed=None):
        super().reset(seed)
        return "here", {"env_instruction": "go"}

    def step(self, action):
        return f"heard {action}", 1.0, True, False, {"metrics": {}}


def test_the_base_class_seeds_the_generators_of_the_process() -> None:
    state = random.getstate()
    Walk().reset(3)
    drawn = random.random()
    random.seed(3)
    assert random.random() == drawn
    random.setstate(state)


@pytest.mark.parametrize("names", ["concat", "concat_with_action", "concat,episode_tracking"])
def test_wrappers_of_gem_llm_are_those_of_gem(names: str) -> None:
    env = gem_llm.make(TALK, seed=2)
    for wrapper in get_wrapper_fns(names):
        env = wrapper(env)
    ours = gem.make(TALK, wrappers=names)

    assert env.reset() == ours.reset(seed=2)
    assert env.step("one") == ours.step("one")
    with pytest.raises(ConfigError, match="not around Walk"):
        WRAPPER_FACTORY["concat"](Walk())


def test_a_vector_has_the_seeds_and_wrappers_of_its_slots() -> None:
    fns = get_wrapper_fns("concat")
    with gem_llm.make_vec([TALK] * 2, wrappers=fns, vec_kwargs=[{"seed": 8}, {}], async_mode=True, seed=1) as vector:
        observations, _ = vector.reset()
        steps = vector.step(["a", "b"])

    for slot, seed in enumerate((8, 2)):
        ours = gem.make(TALK, wrappers="concat")
        assert observations[slot] == ours.reset(seed=seed)[0]
        assert steps.rewards[slot] == ours.step("ab"[slot]).reward


def test_an_env_of_gem_can_be_spawned_with_or_without_its_state() -> None:
    env = gem_llm.make(TALK)
    env.reset(seed=4)
    copy, new = env.spawn(same_state=True), env.spawn(seed=4)

    assert copy.step("a") == env.step("a")
    assert new.reset()[0] == env.reset(4)[0]
    other = env.around(gem.wrappers.Concat).spawn(max_turns=2)
    assert (other.max_turns, type(other.env), env.max_turns) == (2, gem.wrappers.Concat, gem.make(TALK).max_turns)


def test_an_env_of_a_framework_is_made_by_its_id(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(gem_llm, "_registered", {})
    gem_llm.register("walk", Walk)
    gem_llm.register("again", TALK, max_turns=2)
    with pytest.raises(ValueError, match="already registered"):
        gem_llm.register("walk", Walk)
    env = gem_llm.make("walk")
    assert (env.reset(seed=1)[0], env.unwrapped, env.env_id) == ("here", env, "walk")
    assert gem_llm.make("again", max_turns=3).max_turns == 3
    gem_llm.print_envs()
    assert capsys.readouterr().out.startswith("again\nwalk\n")
    with pytest.raises(ConfigError, match="takes ids of GEM"):
        gem_llm.make_vec(["walk"])
    talk = gem_llm.make(TALK)
    assert (talk.around(gem.wrappers.Concat).unwrapped, talk.spec.id) == (talk.unwrapped, TALK)
    talk.reset(seed=1)
    assert isinstance(talk.sample_random_action(), str)
    talk.close()
