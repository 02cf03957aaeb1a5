"""Tools that are methods of an env: bound to the state of the env that a `ToolEnv` wraps."""

import copy
import pickle
import threading
from dataclasses import replace
from typing import Any

import pytest
from tool_samples import Lamp, now, python

from gem.errors import EpisodeOver
from gem.tool import Resource, Tool, ToolError, ToolRuntime, tool, tools_of
from gem.wrappers.tool_env import ToolEnv

UP = "<brighten>{}</brighten>"
DOWN = "<dim>{}</dim>"


def lit(*tools: Tool, **settings) -> ToolEnv:
    env = ToolEnv(Lamp(), tools, format="tags", **settings)
    env.reset(seed=0)
    return env


def test_an_agent_is_offered_the_methods_of_the_env_that_are_tools_and_they_work_on_its_state() -> None:
    env = ToolEnv(Lamp(), [python], format="tags")
    observation, info = env.reset(seed=0)

    assert list(env.tools) == ["brighten", "dim", "python"]
    assert "Turn the lamp up." in observation
    assert "self" not in observation
    assert info["stop"] == ["</brighten>", "</dim>", "</python>"]
    env.step('<brighten>{"by": 3}</brighten>')
    env.step(DOWN)
    assert env.brightness == 2


def test_tools_of_a_fork_and_of_a_restored_env_work_on_its_own_state() -> None:
    env = lit()
    env.step(UP)
    saved = env.snapshot()
    (fork,) = env.fork(1)

    fork.step(UP)
    assert (env.brightness, fork.brightness) == (1, 2)
    env.step('<brighten>{"by": 3}</brighten>')
    env.restore(saved)
    env.step(UP)
    assert (env.brightness, fork.brightness) == (2, 2)


def test_every_episode_begins_with_a_state_of_its_own() -> None:
    env = lit()
    env.step(UP)
    env.reset(seed=0)
    assert env.brightness == 0


def test_a_method_runs_in_the_thread_that_steps_the_env_and_what_it_returns_and_raises_is_checked() -> None:
    class Safe(Lamp):
        @tool
        def thread(self) -> str:
            """Say which thread this is."""
            return threading.current_thread().name

        @tool
        def odd(self) -> Any:
            """Return a number."""
            return 3

    env = ToolEnv(Safe(), format="tags")
    env.reset(seed=0)

    assert threading.current_thread().name in env.step("<thread></thread>").observation
    refused, failed = env.step('<brighten>{"by": "x"}</brighten>'), env.step('<brighten>{"by": 9}</brighten>')
    assert [step.info["tool"]["status"] for step in (refused, failed)] == ["arguments", "error"]
    with pytest.raises(TypeError, match="'odd' returned int"):
        env.step("<odd></odd>")


def test_a_tool_that_is_a_method_is_called_as_a_method_is() -> None:
    lamp = Lamp()
    lamp.reset(seed=0)

    assert lamp.brighten(by=2) == "The lamp is brighter."
    assert Lamp.brighten(lamp) == "The lamp is brighter."
    assert lamp.brightness == 3
    assert [each.name for each in tools_of(Lamp)] == ["brighten", "dim"]
    assert list(Lamp.brighten.parameters["properties"]) == ["by"]


def test_a_subclass_may_change_a_tool_add_one_and_take_one_away() -> None:
    class Torch(Lamp):
        dim = None
        clock = now

        @tool
        def brighten(self, by: int = 2) -> str:
            """Push the button."""
            self.brightness += by
            return "Click."

    env = ToolEnv(Torch(), format="tags")
    env.reset(seed=0)

    assert [(each.name, each.description) for each in env.tools.values()] == [
        ("brighten", "Push the button."),
        ("now", "What time it is."),
    ]
    assert "Click." in env.step(UP).observation
    assert env.brightness == 2


def test_of_two_tool_envs_only_the_inner_one_has_the_tools_of_the_env() -> None:
    env = ToolEnv(ToolEnv(Lamp(), format="tags"), [python])
    observation, info = env.reset(seed=0)

    assert observation.count("Turn the lamp up.") == 1
    assert "It is at 1." in env.step(UP).observation
    assert "It is at" not in env.step("<python>1</python>").observation
    assert info["stop"] == ["</brighten>", "</dim>", "</python>"]


def test_after_each_call_the_env_says_what_the_agent_sees_and_each_call_takes_a_turn() -> None:
    env = lit(tool_success_reward=0.25, max_refused=None)

    step = env.step(UP)
    refused = env.step("<brighten>by two</brighten>")

    assert step.observation == "<result>\nThe lamp is brighter. It is at 1.\n</result>"
    assert (step.reward, step.info["tool"]) == (0.25, {"name": "brighten", "status": "ok"})
    assert refused.observation.endswith("It is at 1.\n</result>")
    assert refused.info["tool"]["status"] == "malformed"
    assert [env.step(DOWN).truncated for _ in range(4)] == [False, False, False, True]
    with pytest.raises(EpisodeOver):
        env.step("Done.")


def test_after_call_can_end_the_episode_with_a_reward() -> None:
    env = lit(tool_reward=0.5, max_calls=1)

    step = env.step('<brighten>{"by": 5}</brighten>')

    assert (step.reward, step.terminated, step.info["success"]) == (-0.5, True, False)
    assert step.observation.endswith("The bulb is gone.\n</result>")
    with pytest.raises(EpisodeOver):
        env.step("Done.")


def test_after_call_cannot_continue_the_episode_after_the_last_refusal() -> None:
    env = lit(max_refused=1)
    step = env.step("<brighten>")
    assert (step.truncated, step.info["success"]) == (True, False)
    assert step.observation.endswith("It is at 0.\n</result>")


class Lamps(Resource[Lamp]):
    def open(self) -> Lamp:
        lamp = Lamp()
        lamp.reset(seed=0)
        return lamp

    def close(self, state: Lamp) -> None:
        state.close()


def test_without_an_env_a_resource_opens_the_instance_that_the_methods_of_a_class_work_on() -> None:
    up, down = (replace(each, resource=lamps, method=False) for lamps in [Lamps()] for each in tools_of(Lamp))
    runtime = ToolRuntime()
    session = runtime.session()

    runtime.call(up, {"by": 5}, session)
    with pytest.raises(ToolError, match="not that bright"):
        runtime.call(up, {}, session)
    runtime.call(down, {}, session)
    assert runtime.call(up, {}, session) == runtime.call(up, {"by": 5}) == "The lamp is brighter."
    session.close()
    runtime.close()


def test_a_tool_that_is_a_method_goes_to_other_processes_and_a_copy_of_an_env_works_on_itself() -> None:
    assert pickle.loads(pickle.dumps(Lamp.brighten)) is Lamp.brighten
    env = lit()
    copied = copy.deepcopy(env)
    copied.step(UP)
    assert (env.brightness, copied.brightness) == (0, 1)
