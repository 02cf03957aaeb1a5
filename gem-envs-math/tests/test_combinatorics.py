"""`math:Combinatorics-v0`: every answer is found again by listing what is counted, or by counting step by step."""

import re
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import prod

import pytest
from drawn_problems import cases, draws, ids, integers, numbers

from gem_envs_math.combinatorics import Combinatorics


def size(iterable):
    return sum(1 for _ in iterable)


def dice_sum(text):
    total = integers(text)[1]
    return sum(a + b == total for a, b in product(range(1, 7), repeat=2))


def arrangement(text):
    given = integers(text)
    return size(permutations(range(given[0]), given[1] if len(given) > 1 else 1))


def anagrams(text):
    letters = re.search("letters ([A-Z]+) be", text)[1]

    @cache
    def orders(left):
        return sum(orders(left.replace(letter, "", 1)) for letter in set(left)) or 1

    return orders("".join(sorted(letters)))


def sharing(text):
    coins, people, *limit = integers(text)
    least, most = int("at least one" in text), limit[0] if limit else coins

    @cache
    def ways(left, others):
        if not others:
            return int(left == 0)
        return sum(ways(left - given, others - 1) for given in range(least, min(left, most) + 1))

    return ways(coins, people)


def lattice_paths(text):
    (_, _), (width, height), (x, y) = (map(int, pair) for pair in re.findall(r"\((\d+), (\d+)\)", text))

    @cache
    def paths(right, up, met):
        met = met or (right, up) == (x, y)
        if (right, up) == (width, height):
            return int(met != ("not through" in text))
        ahead = [(right + 1, up), (right, up + 1)]
        return sum(paths(*place, met) for place in ahead if place[0] <= width and place[1] <= height)

    return paths(0, 0, False)


def committee(text):
    members, women, men, least = integers(text)
    return sum(
        sum(person < women for person in chosen) >= least for chosen in combinations(range(women + men), members)
    )


def bit_strings(text):
    n, k = integers(text)
    ones = [bin(number).count("1") for number in range(2**n)]
    return sum(one == k if "exactly" in text else one >= k for one in ones)


def round_table(text):
    n = integers(text)[0]
    # Ann sits at place 0; `bob` is his place among the others, whose orders are the same for each.
    others = size(permutations(range(n - 2))) if n < 10 else prod(range(2, n - 1))
    return sum(others for bob in range(1, n) if (bob in (1, n - 1)) == ("next" in text))


def draw_balls(text):
    red, blue, drawn, wanted = integers(text)
    chosen = [sum(ball < red for ball in balls) for balls in combinations(range(red + blue), drawn)]
    return Fraction(chosen.count(wanted), len(chosen))


def dice_probability(text):
    dice, target = integers(text)
    sums = list(map(sum, product(range(1, 7), repeat=dice)))
    return Fraction(sum(total >= target for total in sums), len(sums))


def derangements(text):
    n, _, k = integers(text)

    @cache
    def ways(letter, used, hits):
        if letter == n:
            return int(hits == k)
        free = [place for place in range(n) if not used >> place & 1]
        return sum(ways(letter + 1, used | 1 << place, hits + (place == letter)) for place in free)

    return ways(0, 0, 0)


def surjections(text):
    toys, people = integers(text)
    happy = {0: 1}
    for _ in range(toys):
        grown = {}
        for children, ways in happy.items():
            for child in range(people):
                grown[children | 1 << child] = grown.get(children | 1 << child, 0) + ways
        happy = grown
    return happy[2**people - 1]


def no_two_ones(text):
    n, run = integers(text)

    @cache
    def strings(length, ones):
        if ones == run:
            return 0
        return strings(length + 1, 0) + strings(length + 1, ones + 1) if length < n else 1

    return strings(0, 0)


def ballot_paths(text):
    a, b = integers(text)

    @cache
    def orders(first, second):
        if second > first or first > a or second > b:
            return 0
        return int((first, second) == (a, b)) or orders(first + 1, second) + orders(first, second + 1)

    return orders(0, 0)


def necklaces(text):
    """By listing them: the algorithm of Fredricksen, Kessler and Maiorana."""
    beads, colours = integers(text)

    def grow(string, period):
        if len(string) == beads:
            return int(beads % period == 0)
        repeated = string[len(string) - period]
        larger = sum(grow((*string, colour), len(string) + 1) for colour in range(repeated + 1, colours))
        return grow((*string, repeated), period) + larger

    return sum(grow((colour,), 1) for colour in range(colours))


def partitions(text):
    n, parts = integers(text)

    @cache
    def ways(left, count, most):
        if not count:
            return int(left == 0)
        return sum(ways(left - part, count - 1, part) for part in range(1, min(left, most) + 1))

    return ways(n, parts, n)


def cycle_colourings(text):
    n, colours = integers(text)
    ends = {(first, first): 1 for first in range(colours)}
    for _ in range(n - 1):
        grown = dict.fromkeys(product(range(colours), repeat=2), 0)
        for (first, last), ways in ends.items():
            for colour in set(range(colours)) - {last}:
                grown[first, colour] += ways
        ends = grown
    return sum(ways for (first, last), ways in ends.items() if first != last)


def expected_value(text):
    _, n, k = integers(text)
    found = [(max if "largest" in text else min)(chosen) for chosen in combinations(range(1, n + 1), k)]
    return Fraction(sum(found), len(found))


SOLVERS = {
    "selection": lambda text: size(combinations(range(max(integers(text))), min(integers(text)))),
    "outfits": lambda text: size(product(*map(range, integers(text)))),
    "handshakes": lambda text: size(combinations(range(integers(text)[0]), 2)),
    "numbers_between": lambda text: sum(integers(text)[0] <= n <= integers(text)[1] for n in range(200)),
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Combinatorics), ids=ids)
def test_the_answer_is_what_counting_gives(kind, level):
    for problem in draws(kind, level):
        assert [solver_of(kind)(problem.question)] == numbers(problem.answer), problem
