"""The rules of Lamps."""

import pytest
from {{ cookiecutter.package }}.lamps import Lamps

from gem.errors import ConfigError


@pytest.mark.parametrize("lamps", [2, 3, 5, 9])
def test_the_expert_switches_on_all_lamps(lamps):
    env = Lamps(lamps)
    for seed in range(50):
        observation, _ = env.reset(seed=seed)
        assert "off" in observation
        while not (step := env.step(env.expert_action())).done:
            pass
        assert step.info["success"]
        assert step.reward == 1.0


def test_a_switch_works_its_lamp_and_the_neighbours():
    env = Lamps(lamps=4)
    env.reset(seed=0)
    before = env._shown().split()
    after = env.step("\\boxed{2}").observation.split()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, True, False]


def test_the_number_of_a_lamp_that_does_not_exist_uses_up_the_turn():
    env = Lamps(lamps=4, max_turns=1)
    env.reset(seed=0)
    assert env.step("\\boxed{5}").truncated


def test_too_many_lamps_are_refused():
    with pytest.raises(ConfigError, match="lamps must be an integer from 2 to 99"):
        Lamps(lamps=100)
