"""Numbers that count the operations of a solution."""

import random
from fractions import Fraction

import pytest
from drawn_problems import cases, draws, ids

from gem_envs_math.algebra.equations import linear, quadratic
from gem_envs_math.calculus.env import Calculus
from gem_envs_math.counted import choose, counted, factorial, like, log, root, steps_of
from gem_envs_math.notation import derivative, product, value
from gem_envs_math.problem import integer


@pytest.mark.parametrize(
    ("work_out", "result", "steps"),
    [
        (lambda a, b: a + b, 8, 1),
        (lambda a, b: a * b - 7, 5, 2),
        (lambda a, b: (a + b) / (a - b), 2, 3),
        (lambda a, b: 2 * a + 3 * b, 18, 3),
        (lambda a, b: 10 - a, 4, 1),
        (lambda a, b: 1 / b, Fraction(1, 2), 1),
        (lambda a, b: a // 4 + a % 4, 3, 3),
        (lambda a, b: sum(divmod(a, 4)), 3, 2),
        (lambda a, b: a**2, 36, 1),
        (lambda a, b: 2 ** int(a) + b * 0, 64, 0),
        (lambda a, b: max(a, b, a + b), 8, 3),
        (lambda a, b: root(a + b + 1), 3, 3),
        (lambda a, b: root(-a - b, 3), -2, 2),
        (lambda a, b: log(a + b, 2), 3, 2),
        (lambda a, b: choose(a, 2) + factorial(b), 17, 3),
        (lambda a, b: value([a, b, like(3, a)], b), 22, 4),
        (lambda a, b: derivative([a, b, a, b])[-1], 6, 2),
        (lambda a, b: product([a, b], [b, a])[1], 40, 5),
        # What needs no work is free.
        (lambda a, b: -(0 + a) * 1 / -1, 6, 0),
        (lambda a, b: a if a > 0 else b, 6, 0),
        (lambda a, b: choose(a, 0) ** 5 * abs(b), 2, 0),
    ],
)
def test_results_are_exact_and_their_operations_are_counted(work_out, result, steps):
    found = work_out(*counted(6, 2))

    assert found == result
    if steps or not isinstance(found, int):
        assert steps_of(found) == steps


@pytest.mark.parametrize("number", [root(*counted(-4)), root(*counted(2)), log(*counted(6), 2), log(*counted(-8), 2)])
def test_what_is_not_rational_or_not_real_is_no_root_and_no_logarithm(number):
    assert number is None


def test_an_answer_that_was_not_worked_out_from_the_question_is_refused():
    with pytest.raises(TypeError, match="was not worked out"):
        integer("What is 2 + 2?", 4)


def test_solutions_have_the_steps_that_they_have_by_hand():
    assert {linear(random.Random(seed), 0).steps for seed in range(20)} == {2}  # b to the other side, then divide by a
    # b^2, 4a, 4ac, their difference, its root, -b plus and minus that, 2a, and two divisions by it.
    assert quadratic(random.Random(0), 1).steps == 10


@pytest.mark.parametrize(("kind", "level"), cases(Calculus), ids=ids)
def test_a_problem_has_its_steps_in_every_process_and_order(kind, level):
    first, second = draws(kind, level, 2), draws(kind, level, 2)

    assert [problem.steps for problem in first] == [problem.steps for problem in second]
    assert min(problem.steps for problem in first) > 0
