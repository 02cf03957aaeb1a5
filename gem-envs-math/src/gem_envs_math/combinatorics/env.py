"""Combinatorics: counting, probability, expected values."""

from typing import ClassVar

from gem_envs_math.combinatorics.arranging import (
    anagrams,
    ballot,
    colourings,
    misaddressed,
    necklaces,
    no_run,
    partitions,
    shelf,
    surjections,
    words,
)
from gem_envs_math.combinatorics.chances import (
    bayes,
    dice_probability,
    draw_balls,
    expected_dice,
    expected_draw,
    three_colours,
)
from gem_envs_math.combinatorics.choosing import (
    codes,
    committee,
    couples,
    lattice_paths,
    menu,
    pairs,
    pigeonhole,
    podium,
    sharing,
    two_clubs,
    two_kinds,
)
from gem_envs_math.problem import Levels, ProblemEnv


class Combinatorics(ProblemEnv):
    r"""Counting, probability, expected values.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (menu, podium, pairs, two_clubs, pigeonhole, codes, two_kinds),
        "medium": (
            anagrams, sharing, lattice_paths, committee, words, shelf, couples, draw_balls, dice_probability,
        ),
        "hard": (
            sharing, lattice_paths, misaddressed, surjections, no_run, ballot, necklaces, partitions, colourings, bayes,
            three_colours, expected_draw, expected_dice,
        ),
    }  # fmt: skip
