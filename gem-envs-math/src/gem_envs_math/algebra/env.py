"""Algebra: equations, systems, polynomials, sequences, functions."""

from typing import ClassVar

from gem_envs_math.algebra.equations import (
    absolute_value,
    ages,
    biquadratic,
    cubic,
    exponential,
    exponents,
    inverse_function,
    linear,
    linear_both_sides,
    logarithm,
    quadratic,
    radical,
    sum_and_difference,
    system,
    tickets,
    two_distances,
    two_radicals,
)
from gem_envs_math.algebra.expressions import (
    brackets,
    composition,
    cubic_symmetry,
    evaluate,
    expansion,
    geometric_series,
    late_term,
    least_value,
    proportion,
    remainder,
    root_symmetry,
    symmetric_system,
    two_binomials,
    two_terms,
)
from gem_envs_math.problem import Levels, ProblemEnv


class Algebra(ProblemEnv):
    r"""Equations, systems, polynomials, sequences, functions.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (evaluate, linear, brackets, sum_and_difference, proportion, late_term, ages),
        "medium": (
            linear_both_sides, tickets, system, quadratic, absolute_value, expansion, composition, root_symmetry,
            two_terms, least_value,
        ),
        "hard": (
            system, symmetric_system, cubic, biquadratic, inverse_function, cubic_symmetry, remainder,
            geometric_series, two_binomials, exponential, exponents, logarithm, radical, two_radicals, two_distances,
        ),
    }  # fmt: skip
