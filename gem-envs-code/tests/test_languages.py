"""Tasks on standard input are solved in C++ and JavaScript, too."""

import shutil

import pytest

from gem.errors import ConfigError
from gem_envs_code.languages import LANGUAGES
from gem_envs_code.questions import CodeQuestion
from gem_sandbox import cpp

ROWS = [
    {"problem": "Print the square of a number.", "tests": {"inputs": ["3\n", "-4\n"], "outputs": ["9\n", "16\n"]}},
    {"problem": "Write f.", "tests": ["assert f(1) == 2"]},
]
PROGRAMS = {
    "cpp": "#include <iostream>\nint main() { long n; std::cin >> n; std::cout << SIGN n * n << std::endl; }",
    "javascript": "const n = Number(require('fs').readFileSync(0, 'utf8')); console.log(SIGN n * n)",
}
COMMAND = {"cpp": "g++", "javascript": "node"}
BROKEN = {"cpp": ("int main() { return x; }", "it does not compile"), "javascript": ("let x = ;", "an error")}


@pytest.fixture(params=PROGRAMS)
def language(request: pytest.FixtureRequest) -> str:
    if shutil.which(COMMAND[request.param]) is None:
        pytest.skip(f"{COMMAND[request.param]} is not installed")
    return request.param


def test_programs_are_graded_in_the_language_that_was_asked_for(language: str) -> None:
    env = CodeQuestion(ROWS, language=language)
    question, _ = env.reset(seed=0, options={"index": 0})
    fence = LANGUAGES[language].fence
    assert f"Write a {LANGUAGES[language].title} program" in str(question)
    assert f"```{fence} and closes" in str(question)

    right = env.step(f"```{fence}\n{PROGRAMS[language].replace('SIGN', '')}\n```")
    env.reset(seed=0, options={"index": 0})
    wrong = env.step(f"```{fence}\n{PROGRAMS[language].replace('SIGN', '-')}\n```")
    env.reset(seed=0, options={"index": 0})
    broken = env.step(f"```{fence}\n{BROKEN[language][0]}\n```")

    assert (right.reward, wrong.reward, broken.reward) == (1.0, 0.0, 0.0)
    assert str(wrong.observation) == "Your program failed test 1 of 2: wrong output."
    assert str(broken.observation) == f"Your program failed test 1 of 2: {BROKEN[language][1]}."
    env.reset(seed=0, options={"index": 0})
    assert env.step(env.sample_action()).info["success"] is False


def test_a_task_about_functions_is_refused_in_a_language_without_them(language: str) -> None:
    env = CodeQuestion(ROWS, language=language)
    env.reset(seed=0, options={"index": 1})

    with pytest.raises(ConfigError, match="tests functions, which it cannot do in"):
        env.step(f"```\n{PROGRAMS[language]}\n```")


def test_a_missing_compiler_is_reported_before_the_first_episode(
    language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    cpp.toolchain.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigError, match="apt-get install"):
        CodeQuestion(ROWS, language=language)
