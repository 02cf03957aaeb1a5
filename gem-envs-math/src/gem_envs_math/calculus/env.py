"""Calculus: derivatives, integrals, limits, series, and the identities between them."""

from typing import ClassVar

from gem_envs_math.calculus.derivatives import (
    cancelled_limit,
    chain_power,
    chain_rule,
    derivative_of_product,
    extremes,
    higher_derivative,
    highest,
    known_values,
    ladder,
    least_on_interval,
    newton,
    second_derivative,
    slope,
    tangent,
    tangent_of_curve,
)
from gem_envs_math.calculus.integrals import (
    area_between,
    by_parts,
    definite_integral,
    fundamental_theorem,
    improper,
    linearity,
    over_a_period,
    partial_fractions,
    simple_integral,
    symmetric,
    volume,
    whole_area,
)
from gem_envs_math.calculus.series import infinite_series, taylor_coefficient, taylor_limit
from gem_envs_math.problem import Levels, ProblemEnv


class Calculus(ProblemEnv):
    r"""Derivatives, integrals, limits, series, and the identities between them.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (slope, highest, chain_power, second_derivative, known_values, simple_integral),
        "medium": (
            derivative_of_product, definite_integral, cancelled_limit, chain_rule, known_values, extremes, area_between,
            tangent, linearity, fundamental_theorem,
        ),
        "hard": (
            chain_rule, fundamental_theorem, extremes, improper, by_parts, partial_fractions, over_a_period, symmetric,
            volume, whole_area, taylor_limit, taylor_coefficient, infinite_series, tangent_of_curve, least_on_interval,
            higher_derivative, ladder, newton,
        ),
    }  # fmt: skip
