"""What all generated problems have in common: difficulties and kinds, reading and grading, attempts."""

import random
import re
from fractions import Fraction

import pytest
from drawn_problems import cases, draws, ids

import gem
from gem.core import Step
from gem_envs_math.algebra.env import Algebra
from gem_envs_math.calculus.env import Calculus
from gem_envs_math.combinatorics.env import Combinatorics
from gem_envs_math.geometry.env import Geometry
from gem_envs_math.number_theory import NumberTheory
from gem_envs_math.problem import EXPRESSION, IN_ORDER, INTEGER, NUMBER, NUMBERS, Problem, ProblemEnv, read

FAMILIES = (Algebra, NumberTheory, Combinatorics, Calculus, Geometry)
KINDS = [case for family in FAMILIES for case in cases(family)]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_difficulty_has_many_kinds_and_every_kind_many_problems(family):
    for level, kinds in enumerate(family.levels.values()):
        assert len({kind.__name__ for kind in kinds}) == len(kinds) >= 6
        for kind in kinds:
            asked = {f"{problem.given} {problem.question}" for problem in draws(kind, level, 100)}
            assert len(asked) >= 70, kind.__name__


@pytest.mark.parametrize(("kind", "level"), KINDS, ids=ids)
def test_gold_answers_are_read_as_what_they_are(kind, level):
    for problem in draws(kind, level, 10):
        gold = read(problem.form, problem.answer)
        assert isinstance(gold, {INTEGER: Fraction, NUMBER: Fraction, EXPRESSION: str}.get(problem.form, tuple))
        if problem.form == INTEGER:
            assert gold.denominator == 1
        assert level > 0 or problem.form == INTEGER


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_random_answers_are_well_formed_and_seldom_right(family, difficulty):
    env, right = family(difficulty), 0
    for seed in range(50):
        env.reset(seed=seed)
        if env.problem.form == EXPRESSION:  # graded in another process; the contract does
            assert read(EXPRESSION, env.sample_action()[7:-1])
            continue
        step = env.step(env.sample_action())
        assert "malformed" not in step.info
        assert step.info["kind"] == env.kind
        right += step.info["success"]
    assert right < 20


class Fixed(ProblemEnv):
    """One problem."""

    def __init__(self, form, answer, **settings):
        super().__init__(**settings)
        self.form, self.answer = form, answer

    def _draw(self, rng, name):
        return Problem("Which?", self.form, self.answer, steps=1)


Fixed.levels = {difficulty: Algebra.levels[difficulty] for difficulty in Algebra.levels}


@pytest.mark.parametrize(
    ("form", "gold", "answer", "right"),
    [
        (INTEGER, "6", "6", True),
        (INTEGER, "6", "6.0", True),
        (INTEGER, "6", "12/2", True),
        (INTEGER, "6", "x = 6", True),
        (INTEGER, "6", "-6", False),
        (INTEGER, "6", "2 \\cdot 3", None),
        (INTEGER, "6", "\\binom{4}{2}", None),
        (INTEGER, "6", "\\gcd(12, 18)", None),
        (INTEGER, "6", "6 or 7", None),
        (NUMBER, "-7/2", "-\\frac{7}{2}", True),
        (NUMBER, "-7/2", "-3.5", True),
        (NUMBER, "-7/2", "-14/4", True),
        (NUMBER, "1/3", "0.3333", False),
        (NUMBER, "1/3", "0.3333333333333333333", False),
        (NUMBERS, "-3, 1/2", "1/2, -3", True),
        (NUMBERS, "-3, 1/2", "x = -3 \\text{ or } x = 0.5", True),
        (NUMBERS, "-3, 1/2", "\\left\\{-3, \\frac{1}{2}\\right\\}", True),
        (NUMBERS, "-3, 1/2", "x=-3, x=\\frac12", True),
        (NUMBERS, "-3, 1/2", "-3 and 1/2", True),
        (NUMBERS, "-3, 1/2", "-3", False),
        (NUMBERS, "-3, 1/2", "-3, 1/2, 4", False),
        (NUMBERS, "-3, 1/2", "-3, x", None),
        (NUMBERS, "3", "3, 3", True),
        (IN_ORDER, "2, -1", "2, -1", True),
        (IN_ORDER, "2, -1", "(2, -1)", True),
        (IN_ORDER, "2, -1", "(x, y) = (2, -1)", True),
        (IN_ORDER, "2, -1", "x = 2, y = -1", True),
        (IN_ORDER, "2, -1", "-1, 2", False),
        (IN_ORDER, "2, 2, 3", "2, 3", False),
        (IN_ORDER, "2, 2, 3", "2, 2, 3", True),
        (EXPRESSION, "3x^2 - 2", "3x^2 - 2", True),
        (EXPRESSION, "3x^2 - 2", "\\int 6x dx - 2", None),
        (EXPRESSION, "3x^2 - 2", "\\frac{d}{dx} (x^3 - 2x)", None),
        (EXPRESSION, "3x^2 - 2", "\\dfrac{d(x^3 - 2x)}{dx}", None),
        (EXPRESSION, "3x^2 - 2", "d/dx (x^3 - 2x)", None),
        (EXPRESSION, "3x^2 - 2", "diff(x^3 - 2x)", None),
        (EXPRESSION, "3x^2 - 2", "(x^3 - 2x)'", None),
        (EXPRESSION, "3x^2 - 2", "f'(x) = 3x^2 - 2", True),
        (EXPRESSION, "3x^2 - 2", "", None),
        (EXPRESSION, "-7\\pi/2", " -7\\pi/2 ", True),
        (EXPRESSION, "3x^2 - 2", "x" * 501, None),
    ],
)
def test_what_is_right_wrong_and_not_an_answer(form, gold, answer, right):
    env = Fixed(form, gold)
    env.reset(seed=0)
    step = env.step(f"\\boxed{{{answer}}}")
    assert (step.info["success"], "malformed" in step.info) == (right is True, right is None)
    assert step.observation == ("That is right." if right else "That is wrong.") or right is None


@pytest.mark.full
@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("27x^2 - 18x - 3", "3(9x^2 - 6x - 1)", True),
        ("27x^2 - 18x - 3", "-3 - 18x + 27x^{2}", True),
        ("27x^2 - 18x - 3", "27x^2 + 18x - 3", False),
        ("-7\\pi/2", "-\\frac{7\\pi}{2}", True),
        ("-7\\pi/2", "-\\frac{7}{2}\\pi", True),
        ("-7\\pi/2", "-10.9956", False),
        ("2\\ln 5", "\\ln 25", True),
        ("2\\ln 5", "\\ln 5", False),
        ("-8e + 12", "12 - 8e", True),
        ("81 - 81\\pi/4", "81\\left(1 - \\frac{\\pi}{4}\\right)", True),
        ("81 - 81\\pi/4", "81 - 81\\pi", False),
        ("(972 - 81\\pi)/4", "243 - \\frac{81\\pi}{4}", True),
        ("(838\\pi)/5", "\\frac{838}{5}\\pi", True),
        ("(-10e^{-2} + 1)/2", "\\frac{1}{2} - \\frac{5}{e^2}", True),
        ("(-10e^{-2} + 1)/2", "\\frac{1}{2} + \\frac{5}{e^2}", False),
        ("-3\\ln(11/7) + 4\\ln(13/9)", "4\\ln\\frac{13}{9} - 3\\ln\\frac{11}{7}", True),
        ("-3\\ln(11/7) + 4\\ln(13/9)", "\\ln\\left(\\frac{13^4 \\cdot 7^3}{9^4 \\cdot 11^3}\\right)", True),
        ("-3\\ln(11/7) + 4\\ln(13/9)", "4\\ln\\frac{13}{9} - 3\\ln\\frac{7}{11}", False),
    ],
)
def test_expressions_are_right_if_they_are_equal(gold, answer, right):
    env = Fixed(EXPRESSION, gold)
    env.reset(seed=0)
    assert env.step(f"\\boxed{{{answer}}}").info["success"] == right


@pytest.mark.parametrize("family", FAMILIES)
def test_no_observation_of_a_wrong_answer_gives_the_right_one(family):
    env = family("hard", max_attempts=2)
    for seed in range(20):
        question, _ = env.reset(seed=seed)
        assert env.problem.answer not in question.split("\n")[0] or len(env.problem.answer) < 4
        if env.problem.form == EXPRESSION:
            continue
        step = env.step("\\boxed{123456789}")
        assert step.observation == "That is wrong.\nTry again: you have 1 attempt left."
        assert env.step("\\boxed{123456789}") == Step(
            "That is wrong.", 0.0, True, False, {"success": False, "kind": env.kind, "steps": env.problem.steps}
        )


def test_a_reply_without_an_answer_earns_what_the_settings_say():
    env = Algebra(format_error_reward=-0.1)
    env.reset(seed=0)
    step = env.step("I do not know.")
    assert (step.reward, step.info["malformed"]) == (-0.1, True)
    assert re.fullmatch(r"Your reply has no .* inside \\boxed\{\}\.", step.observation)


def test_the_instruction_is_a_choice():
    question = Algebra(instruction=False).reset(seed=0)[0]
    assert "\n" not in question
    assert Algebra(instruction="In a box.").reset(seed=0)[0] == f"{question}\nIn a box."
    assert Algebra().reset(seed=0)[0].startswith(f"{question}\nYou may think first. Give ")


def test_chosen_kinds_are_asked_and_no_others():
    env = NumberTheory("easy", kinds=["clock", "prime_sum"])
    assert {env.kind for seed in range(30) if env.reset(seed=seed)} == {"clock", "prime_sum"}
    assert gem.make("math:NumberTheory-v0-easy", kinds="clock").unwrapped.kinds == ("clock",)


@pytest.mark.parametrize("form", [INTEGER, NUMBER, NUMBERS, IN_ORDER, EXPRESSION])
def test_no_junk_is_an_answer_or_raises(form):
    rng = random.Random(0)
    pieces = ["{", "}", "9" * 400, ",", "-", "$", "\x00", "\ud800", " " * 300, "\n", "and", "q", "\\{", "(", ")"]
    junk = ["q" + "".join(rng.choices(pieces, k=rng.randrange(40))) for _ in range(200)]
    junk += ["{" * 100_000, "x , " * 50_000, "(" * 250 + "1" + ")" * 250, "9" * 100_000, "x!" * 200]
    for text in junk:
        assert read(form, text) is None
