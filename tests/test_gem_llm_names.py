"""Names of gem-llm that need other packages: tools, and ROLL's calls (commit 8eb27cc), written anew here."""

import multiprocessing
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import gem
from gem.errors import ConfigError, SpecError
from gem_interop import gem_llm
from gem_interop.gem_llm import WRAPPER_FACTORY

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "frameworks" / "roll.md"
ECHO = "core:Echo-v0"

ROWS = {
    "question": ["Who wrote Faust?", "Where is Faro?", "What is 3 * 4?"],
    "answer": ["Goethe", "Portugal", "12"],
}
ROLL = {
    "__init__": "",
    "envs": """
import gem

gem.register("walk", entry_point="roll.walk:Walk", goal=3)
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

class QaEnv(GEMQaEnv):
    def reset(self, seed=None):
        CoreEnv.reset(self, seed)
        self.row = self.dataset[self.idx]
        self.idx += 1
        return self.row[self.question_key], {}

    def step(self, action):
        answer = self.extractor(action)
        right = answer is not None and self.check_correct(answer, self.row[self.answer_key])
        return TERMINAL_STATE, float(right), True, True, {}

class MathEnv(GEMMathEnv):
    reset = step = None

class Upper(BaseTool):
    tool_type = "upper"

    def instruction_string(self):
        return "Write <upper>text</upper>."

    def execute_action(self, action):
        _, found, rest = action.partition("<upper>")
        text, closed, _ = rest.partition("</upper>")
        return bool(found and closed), not text, text.upper(), action[: action.find("</upper>") + len("</upper>")]

def play(env_type, actions, **config):
    env = gem.make(env_id=env_type, **config)
    observation, info = env.reset(seed=7)
    return [observation, *(env.step(action=action) for action in actions)]
""",
}


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module of a package that was written for gem-llm, after the commands of ROLL's page."""
    (tmp_path / "roll").mkdir()
    for name, text in ROLL.items():
        (tmp_path / "roll" / f"{name}.py").write_text(text)
    shutil.copy(ROOT / "examples" / "roll" / "gem_llm.py", tmp_path / "roll")
    [command] = re.findall(r"^\$ (find roll .*?\{\} \+)$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gem_llm, "_registered", {})
    yield import_module("roll.manager")
    for name in [name for name in sys.modules if name.partition(".")[0] == "roll"]:
        del sys.modules[name]


def test_roll_plays_its_own_envs_and_those_of_gem(manager: ModuleType) -> None:
    first, right, *_ = manager.play("walk", ["Right", "Left", "Right"], goal=2)
    assert first == "You are at 1."
    assert right[1:4] == (1.0, True, False)
    ours = gem.make(ECHO)
    assert manager.play(ECHO, ["yes"]) == [ours.reset(seed=7)[0], ours.step("yes")]
    assert sys.modules["gem"] is gem
    with pytest.raises(SpecError, match="no argument 'dim_room'"):
        manager.play(ECHO, [], dim_room=3)
    for taken in ("walk", ECHO):
        with pytest.raises(ValueError, match="already registered"):
            gem_llm.register(taken, "roll.walk:Walk")
    with pytest.raises(ConfigError, match="takes ids of GEM; walk"):
        gem_llm.make_vec(["walk"])


@pytest.mark.parametrize("name", ["walk", ECHO])
def test_the_tools_of_roll_are_called_around_any_env(manager: ModuleType, name: str) -> None:
    config = {"goal": 1} if name == "walk" else {}
    rewards = {"tool_reward": 0.1, "tool_success_reward": 0.2}
    env = gem_llm.make(name, **config)
    wrapped = manager.GEMToolEnvWrapper(env, [manager.Upper()], **rewards, max_tool_uses=2)
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
    assert (answered[4]["tool_use_counter"], answered[4]["tool_success_counter"]) == (2, 1)
    assert wrapped.reset()[1]["prev_ep_tool_use_counter"] == 2
    assert wrapped.unwrapped is env.unwrapped


@pytest.mark.parametrize("name", [name for name in WRAPPER_FACTORY if name.endswith(("_tool", "_reward", "_error"))])
def test_tools_by_their_names_in_gem_llm_are_offered_around_an_env(name: str) -> None:
    observation, _ = WRAPPER_FACTORY[name](gem_llm.make(ECHO)).reset(seed=0)

    assert f"<{name.partition('_')[0]}>" in observation
    assert "You have 5 calls." in observation


def test_answers_of_roll_are_graded_by_what_they_mean(manager: ModuleType) -> None:
    check = manager.MathEnv.check_correct
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # as ROLL grades
        assert pool.apply(check, ("3", ["2", "3"])) is True
        assert pool.apply(check, (r"\frac{6}{8}", r"\frac{3}{4}")) is True
    assert check(r"\boxed{5}", "4") is False


@pytest.mark.full
def test_rolls_questions_say_how_to_answer(manager: ModuleType) -> None:
    from datasets import Dataset, DatasetDict

    env = manager.QaEnv(dataset=DatasetDict(train=Dataset.from_dict(ROWS)))
    while "Faust" not in (question := env.reset()[0]):
        pass
    assert question.endswith("Question: Who wrote Faust?\n")
    assert [env.step(f"<answer>{answer}</answer>")[1] for answer in ("the Goethe!", "Schiller")] == [1.0, 0.0]
    assert env.step(r"\boxed{Goethe}")[1] == 0.0
