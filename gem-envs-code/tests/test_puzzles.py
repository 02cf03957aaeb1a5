"""Generated puzzles: their tests are right by a second opinion, their solutions pass, and guesses do not."""

import random
import shutil
from collections.abc import Callable
from typing import Any

import puzzle_oracles
import puzzle_searches
import pytest

from gem_envs_code.puzzles.env import LEVELS, Puzzles
from gem_envs_code.puzzles.puzzle import Puzzle, make
from gem_envs_code.tasks import CallTest, StdinTest

KINDS = {kind.__name__: kind for kinds in LEVELS.values() for kind in kinds}
DRAWS = 6


def drawn(name: str, *, function: bool = True, seeds: range = range(DRAWS)) -> list[Puzzle]:
    return [make(random.Random(seed), KINDS[name], function=function) for seed in seeds]


@pytest.mark.parametrize("seeds", [range(DRAWS), pytest.param(range(DRAWS, 25), marks=pytest.mark.full)])
@pytest.mark.parametrize("name", KINDS)
def test_expected_results_are_those_of_a_second_implementation(name: str, seeds: range) -> None:
    checked = 0
    for puzzle in drawn(name, seeds=seeds):
        for test in puzzle.task.tests:
            assert isinstance(test, CallTest)
            wanted = puzzle_searches.ORACLES[name](puzzle.draft.facts, test.arguments)
            if wanted is not None:
                assert test.result == wanted, (puzzle.task.statement, test)
                checked += 1
    assert checked >= 3 * len(seeds)


def test_every_rule_and_step_has_a_second_implementation_and_no_other() -> None:
    from gem_envs_code.puzzles import pipelines, single

    rules = {rule.words for rules in single._RULES.values() for rule in rules}  # pyright: ignore[reportPrivateUsage]
    tables = (pipelines.LISTS, pipelines.LIST_ENDS, pipelines.TEXTS, pipelines.TEXT_ENDS)

    assert rules == set(puzzle_oracles.SINGLE)
    assert {step.words for table in tables for step in table} == set(puzzle_oracles.STEPS)


@pytest.mark.parametrize("name", ["list_steps", "text_steps", "many_list_steps", "many_text_steps"])
def test_no_step_of_a_puzzle_can_be_left_out(name: str) -> None:
    for puzzle in drawn(name, seeds=range(25)):
        facts, inputs = puzzle.draft.facts, puzzle.draft.inputs
        results = puzzle.draft.results()
        for left_out in facts["steps"][:-1]:
            steps = [step for step in facts["steps"] if step is not left_out]
            assert [puzzle_searches.ORACLES[name]({"steps": steps}, given) for given in inputs] != results


@pytest.mark.parametrize("name", KINDS)
def test_a_puzzle_has_at_least_ten_hidden_tests_that_no_guess_passes(name: str) -> None:
    for puzzle in drawn(name):
        tests = puzzle.task.tests
        results = [test.result for test in tests if isinstance(test, CallTest)]

        assert len(tests) == len(results) >= 10
        assert puzzle.draft.inputs[0] not in [test.arguments for test in tests if isinstance(test, CallTest)]
        common = max(results, key=results.count)
        assert results.count(common) < len(results)


@pytest.mark.parametrize("name", KINDS)
def test_a_program_has_the_tests_of_the_function(name: str) -> None:
    for about_function, about_program in zip(drawn(name), drawn(name, function=False), strict=True):
        for call, test in zip(about_function.task.tests, about_program.task.tests, strict=True):
            assert isinstance(call, CallTest)
            assert isinstance(test, StdinTest)
            result: Any = call.result
            shown = " ".join(map(str, result)) if hasattr(result, "append") else str(result)
            assert test.output == f"{shown}\n"
        assert "return" not in about_program.task.statement.lower()


@pytest.mark.parametrize("difficulty", LEVELS)
def test_no_two_puzzles_are_alike(difficulty: str) -> None:
    env = Puzzles(difficulty)
    seen: set[Any] = set()
    for seed in range(50):
        env.reset(seed=seed)
        seen.add(env.puzzle.draft.words)

    assert len(seen) >= 48


@pytest.fixture(scope="module", params=[*LEVELS["easy"], *LEVELS["medium"], *LEVELS["hard"]], ids=lambda k: k.__name__)
def kind(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 12), marks=pytest.mark.full)], ids=["one", "ten"])
def test_the_reference_solution_passes_as_a_function_and_as_a_program(kind: Callable[..., Any], seeds: range) -> None:
    difficulty = next(name for name, kinds in LEVELS.items() if kind in kinds)
    env = Puzzles(difficulty, kinds=[kind.__name__])
    for seed in seeds:
        env.reset(seed=seed)
        solution = env.expert_action()
        assert solution is not None
        step = env.step(solution)
        assert (step.reward, step.info["success"], step.info["kind"]) == (1.0, True, kind.__name__), step.observation
        assert step.info["steps"] == env.puzzle.steps


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("return {k} * (a + {m})", "a wrong result"),
        ("return str({k} * a + {m})", "a wrong result"),
        ("return ({k} * a + {m}) * 1.0", "a wrong result"),
        ("print({k} * a + {m})", "a wrong result"),
        ("raise ValueError", "an error"),
        ("return {k} * a + {m} if abs(a) < 100 else 0", "a wrong result"),
    ],
)
def test_wrong_solutions_fail(wrong: str, said: str) -> None:
    env = Puzzles("easy", kinds=["number"])
    seed = next(
        s for s in range(1000) if env.reset(seed=s) and env.puzzle.draft.facts["rule"] == "{k} times a, plus {m}"
    )
    env.reset(seed=seed)

    step = env.step(f"```python\ndef f(a):\n    {wrong.format(**env.puzzle.draft.facts)}\n```")

    assert (step.reward, step.info["success"]) == (0.0, False)
    assert str(step.observation).endswith(f"{said}.")


@pytest.mark.full
def test_slow_solutions_of_hard_puzzles_fail() -> None:
    env = Puzzles("hard", kinds=["stretches"])
    seed = next(
        s for s in range(1000) if env.reset(seed=s) and env.puzzle.draft.facts["asked"] == "whose sum is {k} or {m}"
    )
    env.reset(seed=seed)
    facts = env.puzzle.draft.facts
    wanted = f"({facts['k']}, {facts['m']})"
    body = f"return sum(sum(xs[a:b]) in {wanted} for a in range(len(xs)) for b in range(a + 1, len(xs) + 1))"
    is_function = isinstance(env.puzzle.task.tests[0], CallTest)
    call = "" if is_function else "print(f([int(x) for x in input().split()]))\n"

    step = env.step(f"```python\ndef f(xs):\n    {body}\n{call}```")

    assert step.reward == 0
    assert "more than 2 s of CPU time" in str(step.observation) or "more than 10 s" in str(step.observation)


@pytest.mark.full
def test_puzzles_in_other_languages_read_standard_input() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    env = Puzzles("easy", kinds=["number"], language="javascript")
    seed = next(
        s for s in range(1000) if env.reset(seed=s) and env.puzzle.draft.facts["rule"] == "{k} times a, plus {m}"
    )
    question, _ = env.reset(seed=seed)
    assert "Write a JavaScript (Node.js) program that reads standard input" in str(question)
    assert env.expert_action() is None

    k, m = (env.puzzle.draft.facts[name] for name in "km")
    program = f"console.log({k} * Number(require('fs').readFileSync(0, 'utf8')) + {m})"
    assert env.step(f"```javascript\n{program}\n```").reward == 1
