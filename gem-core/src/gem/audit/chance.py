"""Tests of significance: whether replies win more often than others, or than a share."""

from math import comb

LEVEL = 0.01
"""How probable a difference may be by chance, and still count as one."""


def wins_more(won: int, of: int, other: int, of_other: int) -> bool:
    """Whether `won` of `of` episodes are clearly more than `other` of `of_other`.

    The one-sided exact test of R. A. Fisher ("Statistical Methods for Research Workers", 1934) at `LEVEL`.
    """
    every, wins = of + of_other, won + other
    tail = sum(comb(of, each) * comb(of_other, wins - each) for each in range(won, min(of, wins) + 1))
    return tail <= LEVEL * comb(every, wins)


def wins_above(won: int, of: int, share: float) -> bool:
    """Whether `won` of `of` episodes are clearly more than `share` of them: the one-sided binomial test at `LEVEL`."""
    return sum(comb(of, each) * share**each * (1 - share) ** (of - each) for each in range(won, of + 1)) <= LEVEL
