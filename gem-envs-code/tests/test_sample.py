"""The sample that comes with the pack: every problem has sound tests."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_envs_code
from gem_envs_code.grader import block
from gem_envs_code.tasks import CallTest, StdinTest, Task, Test

ROWS: list[Mapping[str, Any]] = [
    json.loads(line)
    for line in Path(str(gem_envs_code.__file__)).with_name("sample.jsonl").read_text("utf-8").splitlines()
]
PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    row["id"]: row
    for row in map(json.loads, Path(__file__).with_name("sample_programs.jsonl").read_text("utf-8").splitlines())
}
"""For each problem a second solution, and a program with a usual mistake."""
QUICK = ("different-parts", "stock-take", "fair-shares")
"""Problems of every kind; the others are for `make test-all`."""


@pytest.fixture(scope="module")
def env() -> Any:
    return gem.make("code:Sample")


def graded(env: Any, name: str, program: str) -> gem.Step:
    index = [row["id"] for row in ROWS].index(name)
    env.reset(seed=0, options={"index": index})
    return env.step(block(program))


def expected(test: Test) -> str:
    if isinstance(test, StdinTest):
        return test.output
    return repr(test.result) if isinstance(test, CallTest) else test.code.partition(" == ")[2]


def names() -> list[Any]:
    return [row["id"] if row["id"] in QUICK else pytest.param(row["id"], marks=pytest.mark.full) for row in ROWS]


@pytest.mark.parametrize("name", names())
def test_two_solutions_pass_and_a_mistake_does_not(env: Any, name: str) -> None:
    env.reset(seed=0, options={"index": [row["id"] for row in ROWS].index(name)})
    expert = env.expert_action()
    assert expert is not None

    assert env.step(expert).reward == 1
    assert graded(env, name, PROGRAMS[name]["second"]).reward == 1
    wrong = graded(env, name, PROGRAMS[name]["wrong"])
    assert (wrong.reward, wrong.info["success"]) == (0, False)


def test_there_are_forty_problems_over_three_kinds_of_tests() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 40
    assert {row["id"] for row in ROWS} == set(PROGRAMS)
    assert all(count >= 10 for count in Counter(row["kind"] for row in ROWS).values())
    assert {row["kind"] for row in ROWS} == {"stdin", "function", "assert"}
    assert {row["difficulty"] for row in ROWS} == {"easy", "medium", "hard"}


def test_every_problem_has_at_least_eight_hidden_tests_that_no_guess_passes(env: Any) -> None:
    for index, row in enumerate(ROWS):
        question, _ = env.reset(seed=0, options={"index": index})
        task: Task = env.unwrapped.row
        assert len(task.tests) >= 8, row["id"]
        assert len(task.tests) == len(row["tests"]["inputs"] if row["kind"] == "stdin" else row["tests"])
        right = list(map(expected, task.tests))
        assert Counter(right).most_common(1)[0][1] <= len(right) * 0.7, row["id"]
        assert row["solution"] not in str(question)


@pytest.mark.full
@pytest.mark.parametrize(
    ("language", "program", "wrong"),
    [
        (
            "cpp",
            "#include <iostream>\n#include <algorithm>\nint main() { long n, c, a, b, load = 0, most = 0, standing = 0;"
            "std::cin >> n >> c; while (n--) { std::cin >> a >> b; load += b - a; most = std::max(most, load);"
            "standing += load > c; } std::cout << most << ' ' << standing << '\\n'; }",
            ("load > c", "load >= c"),
        ),
        (
            "javascript",
            "const [n, c, ...rest] = require('fs').readFileSync(0, 'utf8').split(/\\s+/).map(Number);"
            "let load = 0, most = 0, standing = 0; for (let i = 0; i < n; i++) { load += rest[2 * i + 1] - rest[2 * i];"
            "most = Math.max(most, load); if (load > c) standing++; } console.log(most, standing)",
            ("load > c", "load >= c"),
        ),
    ],
)
def test_a_problem_is_solved_in_another_language(language: str, program: str, wrong: tuple[str, str]) -> None:
    if shutil.which({"cpp": "g++", "javascript": "node"}[language]) is None:
        pytest.skip("no compiler")
    env = gem.make("code:Sample", language=language)

    assert graded(env, "bus-load", program).reward == 1
    assert graded(env, "bus-load", program.replace(*wrong)).reward == 0
