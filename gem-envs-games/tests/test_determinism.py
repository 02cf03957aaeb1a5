import random

import numpy as np
import pytest

import gem
from gem_envs_games import plugin

IDS = [spec.id for spec in plugin.gem_envs()]


def play(env, say, seed=None):
    """The episode as a list: what `reset` gave (unless there is no seed), then each action and its step."""
    trace = [] if seed is None else [env.reset(seed=seed)]
    done = False
    while not done:
        action = getattr(env, say)()
        step = env.step(action)
        trace.append((action, step))
        done = step.done
    return trace


@pytest.mark.parametrize("id", IDS)
def test_sample_action_is_never_malformed_and_leaves_the_world_as_it_was(id):
    sampling, plain = gem.make(id), gem.make(id)
    for seed in range(20):
        trace = play(sampling, "sample_action", seed)
        assert plain.reset(seed=seed) == trace[0]
        for action, step in trace[1:]:
            assert "malformed" not in step.info
            assert plain.step(action) == step


@pytest.mark.parametrize("id", IDS)
def test_the_expert_wins_the_same_world_whether_or_not_actions_are_sampled_in_between(id):
    env = gem.make(id)
    for seed in range(5):
        alone = play(env, "expert_action", seed)
        observed = [env.reset(seed=seed)]
        while len(observed) == 1 or not observed[-1][1].done:
            env.sample_action()
            action = env.expert_action()
            observed.append((action, env.step(action)))
        assert observed == alone


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("say", ["sample_action", "expert_action"])
def test_a_snapshot_in_mid_episode_goes_on_in_another_instance_as_in_its_own(id, say):
    env, other = gem.make(id), gem.make(id)
    for seed in range(5):
        env.reset(seed=seed)
        step = env.step(env.expert_action())
        if step.done:
            continue
        state = env.snapshot()
        rest = play(env, say)
        other.restore(state)
        assert play(other, say) == rest
        # The generator of the world is part of the state: the next episode is the same too.
        assert env.reset() == other.reset()


@pytest.mark.parametrize("id", IDS)
def test_global_random_generators_are_neither_used_nor_moved(id, monkeypatch):
    def poison(*_, **__):
        raise AssertionError("a global generator was used")

    before = random.getstate()
    for module in (random, np.random):
        for name in ("random", "randint", "choice", "shuffle", "sample", "uniform", "seed"):
            monkeypatch.setattr(module, name, poison, raising=False)
    env = gem.make(id)
    play(env, "sample_action", 0)
    play(env, "expert_action", 1)
    monkeypatch.undo()
    assert random.getstate() == before


@pytest.mark.parametrize("id", IDS)
def test_equal_seeds_start_equal_episodes_and_different_seeds_do_not_all(id):
    env = gem.make(id)
    starts = {}
    for seed in range(20):
        starts[seed] = env.reset(seed=seed), env.step(env.expert_action())
        assert (env.reset(seed=seed), env.step(env.expert_action())) == starts[seed]
    if id not in ("game:TowerofHanoi-v0", "game:TowerofHanoi-v0-easy", "game:TowerofHanoi-v0-hard"):
        assert len({repr(start) for start in starts.values()}) > 1
