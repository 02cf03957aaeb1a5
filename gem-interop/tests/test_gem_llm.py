"""gem-llm's names: the calls of RL2 (commit 9161ede) and of ROLL (commit 8eb27cc), written anew here.

Their own files were run against `gem_interop.gem_llm` by hand; docs/frameworks says which.
"""

import builtins
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import gem
from gem.errors import ConfigError, SpecError
from gem_interop import gem_llm
from gem_interop.gem_llm import redirect
from gem_interop.gem_llm.core import Env, EnvWrapper
from gem_interop.gem_llm.envs.registration import ENV_REGISTRY
from gem_interop.gem_llm.tools.base_tool import BaseTool
from gem_interop.gem_llm.tools.tool_env_wrapper import ToolEnvWrapper
from gem_interop.gem_llm.wrappers.wrapper_factory import WRAPPER_FACTORY, get_wrapper_fns

TALK = "interop_envs:Talk"

FRAMEWORK = {
    "__init__": "",
    "envs": """
import gem

gem.register("walk", entry_point="framework.walk:Walk", goal=3)
""",
    "walk": """
import random
from gem import Env

class Walk(Env):
    def __init__(self, goal, **kwargs):
        self.goal = goal

    def reset(self, seed=None):
        Env.reset(self, seed)
        self.place = random.randint(0, 1)
        return f"You are at {self.place}.", {"env_instruction": "Say Right."}

    def step(self, action):
        self.place += action == "Right"
        return f"You are at {self.place}.", float(self.place == self.goal), self.place == self.goal, False, {}
""",
    "manager": """
import gem
from gem.core import Env as CoreEnv
from gem.utils.constants import TERMINAL_STATE
from gem.utils.parsing import extract_last_boxed_answer
from gem.envs.math_env import MathEnv as GEMMathEnv
from gem.envs.qa_env import QaEnv as GEMQaEnv
from gem.tools.base_tool import BaseTool
from gem.tools.tool_env_wrapper import ToolEnvWrapper as GEMToolEnvWrapper
from . import envs

assert CoreEnv is gem.Env and issubclass(GEMMathEnv, gem.Env)

def play(env_type, actions, **config):
    env = gem.make(env_id=env_type, **config)
    observation, info = env.reset(seed=7)
    return [observation, *(env.step(action=action) for action in actions)]
""",
    "late": "def run_python():\n    from gem.utils.sandbox import run_python\n    return run_python\n",
    "bad_tool": "import gem.tools.python_code_tool",
}


@pytest.fixture
def framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that was written for gem-llm, and everything as it was after the test."""
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    monkeypatch.setattr(redirect, "_packages", set())
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name, text in FRAMEWORK.items():
        (tmp_path / "framework").mkdir(exist_ok=True)
        (tmp_path / "framework" / f"{name}.py").write_text(text)
    yield tmp_path
    ENV_REGISTRY.clear()
    for name in [name for name in sys.modules if name.startswith("framework")]:
        del sys.modules[name]


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


def test_a_framework_written_for_gem_llm_plays_its_own_envs_and_those_of_gem(framework: Path) -> None:
    gem_llm.install("framework")
    manager = import_module("framework.manager")

    first, right, *_ = manager.play("walk", ["Right", "Left", "Right"], goal=2)
    assert first == "You are at 1."
    assert right[1:4] == (1.0, True, False)
    ours = gem.make(TALK)
    assert manager.play(TALK, ["yes"], seed=3) == [ours.reset(seed=7)[0], ours.step("yes")]
    with pytest.raises(SpecError, match=r"takes no argument 'dim_room'"):
        manager.play(TALK, [], dim_room=3)
    with pytest.raises(ValueError, match="already registered"):
        gem_llm.register("walk", Walk)
    with pytest.raises(ValueError, match="already registered"):
        gem_llm.register("core:Echo-v0", Walk)
    assert manager.gem is gem_llm
    assert sys.modules["gem"] is gem
    assert gem.Env is not Env


def test_gem_is_gem_for_everybody_else(framework: Path) -> None:
    gem_llm.install("framework")
    (framework / "framework_of_others.py").write_text("import gem\nfrom gem.core import Env\n")
    others = import_module("framework_of_others")

    assert (others.gem, others.Env) == (gem, gem.Env)


def test_what_is_not_offered_says_so_and_what_to_do(framework: Path) -> None:
    gem_llm.install("framework")
    late = import_module("framework.late")

    with pytest.raises(ModuleNotFoundError, match=r"gem\.utils\.sandbox of gem-llm is not offered .* use GEM's own"):
        late.run_python()
    with pytest.raises(ModuleNotFoundError, match=r"gem\.tools\.python_code_tool of gem-llm is not offered"):
        import_module("framework.bad_tool")
    with pytest.raises(AttributeError, match="GEM's own names are in the module gem"):
        _ = gem_llm.Wrapper
    with pytest.raises(ConfigError, match="has no wrapper 'nothing'; it has python_tool"):
        get_wrapper_fns("concat,nothing")


def test_install_refuses_what_would_not_work(framework: Path) -> None:
    (framework / "framework" / "early.py").write_text("import gem")
    import_module("framework.early")

    with pytest.raises(ConfigError, match=r"earlier: framework\.early has imported gem already"):
        gem_llm.install("framework")
    for wrong in ((), ("gem_train",), ("roll.env",)):
        with pytest.raises(ConfigError):
            gem_llm.install(*wrong)


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
    with pytest.raises(ConfigError, match="around an environment of GEM, not around Walk"):
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


class Upper(BaseTool):
    """Reads <upper>…</upper>; fails on an empty one."""

    tool_type = "upper"

    def instruction_string(self):
        return "Write <upper>text</upper>."

    def execute_action(self, action):
        _, found, rest = action.partition("<upper>")
        text, closed, _ = rest.partition("</upper>")
        return bool(found and closed), not text, text.upper(), action[: action.find("</upper>") + len("</upper>")]


@pytest.mark.parametrize("env", [Walk(), gem_llm.make("core:Echo-v0")])
def test_tools_of_a_framework_are_called_around_any_env(env: Env) -> None:
    class Twice(EnvWrapper):
        def step(self, action):
            return self.env.step(action)

        def reset(self, seed=None):
            return self.env.reset(seed)

    wrapped = ToolEnvWrapper(Twice(env), [Upper()], tool_reward=0.1, tool_success_reward=0.2, max_tool_uses=2)
    observation, info = wrapped.reset(seed=1)
    called = wrapped.step("so <upper>tool</upper> and more")
    failed = wrapped.step("<upper></upper>")
    answered = wrapped.step("<upper>past the limit</upper>")

    assert observation == f"{env.reset(seed=1)[0]}\nWrite <upper>text</upper>."
    assert (info["tool_use_counter"], info["use_tool"]) == (0, False)
    assert called[:4] == ("TOOL", pytest.approx(0.3), False, False)
    assert called[4]["parsed_action"] == "so <upper>tool</upper>"
    assert failed[1] == 0.1
    assert "last call" in failed[0]
    assert answered[2] is True
    assert (answered[4]["tool_use_counter"], answered[4]["tool_success_counter"]) == (2, 1)
    assert wrapped.reset()[1]["prev_ep_tool_use_counter"] == 2
    assert wrapped.unwrapped is env.unwrapped


def test_an_env_of_gem_can_be_spawned_with_or_without_its_state() -> None:
    env = gem_llm.make(TALK)
    env.reset(seed=4)
    copy, new = env.spawn(same_state=True), env.spawn(seed=4)

    assert copy.step("a") == env.step("a")
    assert new.reset()[0] == env.reset(4)[0]
