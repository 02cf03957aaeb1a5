"""Families of generated questions: they differ, cannot be guessed, and take more steps at higher difficulties."""

import re
import runpy
from pathlib import Path

import pytest

import gem
from gem.core import Step
from gem.dataset_env import QuestionEnv

FAMILIES = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "families.py"))
SEEDS = 200
BY_CHOICE = ("logic:",)
"""Namespaces in which an answer is one of two or three."""
SLOW = ("logic:", "code:")
"""Namespaces in which 600 questions take many seconds."""


def faults(measured, *, is_choice=False):
    """What is wrong with a family, by the name of the difficulty."""
    found = [f"{name}: {each.distinct:.1%} distinct" for name, each in measured.items() if each.distinct < 0.95]
    if not is_choice:
        found += [
            f"{name}: {each.constant:.1%} by a constant" for name, each in measured.items() if each.constant > 0.05
        ]
    steps = [measured[name].steps for name in ("easy", "medium", "hard") if name in measured]
    if steps != sorted(steps) or steps[-1] < 2 * steps[0]:
        found.append(f"steps that do not grow enough: {', '.join(f'{each:.1f}' for each in steps)}")
    return found


def families():
    """Family → difficulty → id, with an open world as a family of its own."""
    found = {}
    for id in FAMILIES["ids"]():
        name, difficulty = re.fullmatch(r"(.*?)(?:-(easy|hard))?", id).groups()
        found.setdefault(name, {})[difficulty or "medium"] = id
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * name.startswith(SLOW)) for name in families()]
)
def test_questions_differ_cannot_be_guessed_and_grow_with_the_difficulty(name):
    measured = {}
    for difficulty, id in families()[name].items():
        with gem.make(id) as env:
            measured[difficulty] = FAMILIES["measure"](env, SEEDS)

    assert faults(measured, is_choice=name.startswith(BY_CHOICE)) == []


class Fixed(QuestionEnv):
    """Questions and answers that are drawn from a range, with a number of steps."""

    def __init__(self, questions, answers, steps):
        super().__init__()
        self.questions, self.answers, self.steps = questions, answers, steps

    def _reset(self, options):
        self.asked = self.rng.randrange(self.questions)
        return f"Question {self.asked}?"

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        return Step.final("", 0.0, success=False)

    def sample_action(self):
        return "0"

    def expert_action(self):
        return str(self.asked % self.answers)


@pytest.mark.parametrize(
    ("hard", "found"),
    [
        (Fixed(10**6, 10**6, 6), []),
        (Fixed(1000, 10**6, 6), ["hard: 88.0% distinct"]),
        (Fixed(10**6, 12, 6), ["hard: 11.5% by a constant"]),
        (Fixed(10**6, 10**6, 5), ["steps that do not grow enough: 3.0, 4.0, 5.0"]),
    ],
)
def test_few_questions_frequent_answers_and_solutions_that_do_not_grow_are_found(hard, found):
    envs = {"easy": Fixed(10**6, 10**6, 3), "medium": Fixed(10**6, 10**6, 4), "hard": hard}
    measured = {name: FAMILIES["measure"](env, SEEDS) for name, env in envs.items()}

    assert faults(measured) == found
