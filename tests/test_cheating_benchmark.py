"""benchmarks/cheating.py: its tasks are as it says, its careless judge is one, and its table finds what wins."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import cheating
from sides import careless_judge

from gem_envs_code.cheating import programs as cheats

TASKS = cheating.tasks()


def test_each_row_of_five_answers_is_the_right_one_of_three_tasks() -> None:
    rows = Counter(tuple(right == answers[1] for _, right in cases) for _, answers, cases, _ in TASKS)
    assert (len(rows), set(rows.values()), len(TASKS)) == (32, {3}, 96)


def test_there_are_as_many_cheats_as_it_says_and_each_is_a_program() -> None:
    assert (len(cheats.CLASSIC), len(cheats.NEW)) == (67, 22)
    for code in [*cheats.CLASSIC.values(), *cheats.NEW.values()]:
        for form in ("stdin", "call"):
            compile(cheating.cheat(code, form, ("yes", "no")), "cheat.py", "exec")


@pytest.mark.parametrize("at", [5, 40, 75, 78])
def test_the_careless_judge_accepts_a_right_program_and_not_one_that_always_says_the_same(at: int) -> None:
    form, answers, cases, tests = TASKS[at]
    assert careless_judge.accepts(cheating.right_program(form, answers, cases), form, cases, tests)
    assert not careless_judge.accepts(cheating.cheat("", form, answers), form, cases, tests)


@pytest.mark.parametrize(
    ("planted", "found"), [({}, "none"), ({"passed": 7}, "a cheat"), ({"styles": ["near"]}, "a cheat")]
)
def test_the_table_names_what_gets_through(planted: dict[str, Any], found: str) -> None:
    cheat = {"kind": "new", "passed": 3, "faults": 0, "styles": [], "careless": 1, **planted}
    report = {"tasks": 96, "limit": cheating.LIMIT, "mixed": 17, "found": {"a cheat": cheat}}
    assert f"\nget through: {found}\n" in cheating.table(json.loads(json.dumps(report)))
