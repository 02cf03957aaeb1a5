"""What of gem-llm's names needs other packages: tools, and rows as ROLL asks them, graded by gem-envs-math."""

import multiprocessing

import pytest

from gem.errors import ConfigError
from gem_interop import gem_llm
from gem_interop.gem_llm.envs.math_env import MathEnv
from gem_interop.gem_llm.envs.qa_env import QaEnv
from gem_interop.gem_llm.wrappers.wrapper_factory import WRAPPER_FACTORY

ROWS = {
    "problem": ["What is 1/2 + 1/4?", "What is 2 + 2?", "Name a prime below 4."],
    "question": ["Who wrote Faust?", "Where is Faro?", "What is 3 * 4?"],
    "answer": [r"\frac{3}{4}", "4", ["2", "3"]],
    "short": ["Goethe", "Portugal", "12"],
}


@pytest.mark.parametrize("name", [name for name in WRAPPER_FACTORY if name.endswith(("_tool", "_reward", "_error"))])
def test_tools_by_their_names_in_gem_llm_are_offered_around_an_env(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARCH_URL", raising=False)
    env = gem_llm.make("core:Echo-v0")
    if "search" in name:
        with pytest.raises(ConfigError, match="set the variable SEARCH_URL"):
            WRAPPER_FACTORY[name](env)
        monkeypatch.setenv("SEARCH_URL", "http://127.0.0.1:9/retrieve")

    observation, _ = WRAPPER_FACTORY[name](env).reset(seed=0)

    assert f"<{name.partition('_')[0]}>" in observation
    assert "You have 5 calls." in observation


@pytest.mark.full
def test_rows_are_asked_once_each_and_graded_by_what_an_answer_means() -> None:
    from datasets import Dataset

    rows = Dataset.from_dict({**ROWS, "answer": [["3/4"], ["4"], ["2", "3"]]})
    env = MathEnv(dataset=rows, seed=3)
    asked = [env.reset()[0] for _ in range(6)]
    assert sorted(asked[:3]) == sorted(asked[3:]) == sorted(ROWS["problem"])
    assert env.reset(seed=1) == env.reset(seed=1)

    while env.reset()[0] != "What is 1/2 + 1/4?":
        pass
    assert env.step(r"It is \boxed{0.75}.")[1:] == (1.0, True, True, {"correct": True})
    assert env.step("It is 0.75.")[1] == 0.0
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # as ROLL grades
        assert pool.apply(env.check_correct, ("3", ["2", "3"])) is True
        assert pool.apply(env.check_correct, (r"\frac{6}{8}", r"\frac{3}{4}")) is True

    env = QaEnv(dataset=rows, question_key="question", answer_key="short")
    while "Faust" not in (question := env.reset()[0]):
        pass
    assert question.endswith("Question: Who wrote Faust?\n")
    assert [env.step(f"<answer>{answer}</answer>")[1] for answer in ("the Goethe!", "Schiller")] == [1.0, 0.0]
    assert env.step(r"\boxed{Goethe}")[1] == 0.0
