"""Combinatorics: counting, probability, expected values."""

import random
from collections import Counter
from fractions import Fraction
from math import comb, factorial, gcd, prod
from typing import ClassVar

from gem_envs_math.problem import Levels, Problem, ProblemEnv, integer, number


def selection(rng: random.Random, level: int) -> Problem:
    """Choosing k of n."""
    n, k = rng.randint(3, 7), rng.randint(1, 3)
    books, teams = f"In how many ways can {k} of {n} books be chosen?", f"How many teams of {k} can {n} people form?"
    return integer(rng.choice((books, teams)), comb(n, k))


def arrangement(rng: random.Random, level: int) -> Problem:
    """Orders of k of n things."""
    n = rng.randint(2, 6)
    k = rng.randint(1, min(n, 3))
    places = f"first {k} places" if k > 1 else "first place"
    return integer(f"In how many ways can {n} runners take the {places}?", prod(range(n - k + 1, n + 1)))


def outfits(rng: random.Random, level: int) -> Problem:
    """The product rule."""
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    return integer(f"How many outfits do {a} shirts and {b} hats make?", a * b)


def handshakes(rng: random.Random, level: int) -> Problem:
    """Pairs."""
    n = rng.randint(3, 13)
    return integer(f"{n} people shake hands, each once with each other. How many handshakes are there?", comb(n, 2))


def dice_sum(rng: random.Random, level: int) -> Problem:
    """The ways in which two dice make a sum."""
    total = rng.randint(2, 12)
    return integer(f"In how many of the 36 results of two dice is the sum {total}?", 6 - abs(total - 7))


def numbers_between(rng: random.Random, level: int) -> Problem:
    """Counting integers with their ends."""
    first = rng.randint(1, 50)
    last = first + rng.randint(2, 30)
    return integer(f"How many integers are there from {first} to {last}, both included?", last - first + 1)


def anagrams(rng: random.Random, level: int) -> Problem:
    """The orders of letters, some of them equal."""
    size = rng.randint(4, 8)
    letters = "".join(rng.choices("ABCDE"[: rng.randint(2, 5)], k=size))
    answer = factorial(size) // prod(map(factorial, Counter(letters).values()))
    return integer(f"In how many different orders can the letters {letters} be written?", answer)


def sharing(rng: random.Random, level: int) -> Problem:
    """Stars and bars; at the hard level nobody gets more than a limit."""
    people, coins = rng.randint(3, 5), rng.randint(5, 14)
    if level == 1:
        least = rng.randint(0, 1)
        rule = " so that each gets at least one" if least else ""
        return integer(
            f"In how many ways can {coins} equal coins be given to {people} people{rule}?",
            comb(coins - least * people + people - 1, people - 1),
        )
    limit = rng.randint(-(-coins // people), coins - 1)
    # Inclusion and exclusion over the people who get more than the limit.
    answer = sum(
        (-1) ** over * comb(people, over) * comb(coins - over * (limit + 1) + people - 1, people - 1)
        for over in range(coins // (limit + 1) + 1)
    )
    rule = f" so that nobody gets more than {limit}"
    return integer(f"In how many ways can {coins} equal coins be given to {people} people{rule}?", answer)


def lattice_paths(rng: random.Random, level: int) -> Problem:
    """Shortest paths in a grid that avoid a point."""
    width, height = rng.randint(3, 7), rng.randint(3, 6)
    x, y = rng.randint(1, width - 1), rng.randint(1, height - 1)
    through = comb(x + y, x) * comb(width - x + height - y, width - x)
    start = f"A path goes from (0, 0) to ({width}, {height}) in steps of 1 to the right or up"
    if rng.random() < 0.5:
        return integer(f"{start}, through ({x}, {y}). How many such paths are there?", through)
    return integer(
        f"{start}, but not through ({x}, {y}). How many such paths are there?", comb(width + height, width) - through
    )


def committee(rng: random.Random, level: int) -> Problem:
    """Choosing from two groups with a least number of one."""
    women, men, size = rng.randint(3, 7), rng.randint(3, 7), rng.randint(3, 5)
    least = rng.randint(1, 2)
    answer = sum(comb(women, k) * comb(men, size - k) for k in range(least, size + 1))
    return integer(
        f"A committee of {size} is chosen from {women} women and {men} men, with at least {least} of the women. "
        "In how many ways?",
        answer,
    )


def bit_strings(rng: random.Random, level: int) -> Problem:
    """Strings of bits with a number of ones."""
    n = rng.randint(5, 12)
    k = rng.randint(1, n - 1)
    if rng.random() < 0.5:
        return integer(f"How many strings of {n} bits have exactly {k} ones?", comb(n, k))
    return integer(f"How many strings of {n} bits have at least {k} ones?", sum(comb(n, i) for i in range(k, n + 1)))


def round_table(rng: random.Random, level: int) -> Problem:
    """Seats at a round table where two people sit together or do not."""
    n = rng.randint(4, 14)
    together = 2 * factorial(n - 2)
    how, answer = rng.choice((("next to each other", together), ("apart", factorial(n - 1) - together)))
    return integer(
        f"{n} people sit at a round table, Ann and Bob among them, who must sit {how}. How many seatings are there, if "
        "those that differ by a rotation count once?",
        answer,
    )


def draw_balls(rng: random.Random, level: int) -> Problem:
    """A probability of drawing without putting back."""
    red, blue = rng.randint(2, 8), rng.randint(2, 8)
    drawn = rng.randint(2, 3 if level == 1 else min(5, red + blue - 1))
    wanted = rng.randint(max(0, drawn - blue), min(red, drawn))
    return number(
        f"A bag has {red} red and {blue} blue balls; {drawn} are drawn without putting any back. What is the "
        f"probability that exactly {wanted} of them are red?",
        Fraction(comb(red, wanted) * comb(blue, drawn - wanted), comb(red + blue, drawn)),
    )


def dice_probability(rng: random.Random, level: int) -> Problem:
    """A probability with several dice."""
    dice = rng.randint(2, 4)
    target = rng.randint(dice + 1, 6 * dice)
    ways = Counter({0: 1})
    for _ in range(dice):
        ways = Counter({n: sum(ways[n - side] for side in range(1, 7)) for n in range(1, 6 * dice + 1)})
    return number(
        f"{dice} dice are thrown. What is the probability that their sum is at least {target}?",
        Fraction(sum(count for n, count in ways.items() if n >= target), 6**dice),
    )


def derangements(rng: random.Random, level: int) -> Problem:
    """Permutations with a number of fixed points."""
    n = rng.randint(4, 8)
    k = rng.randrange(n - 1)
    rest = n - k
    moved = sum((-1) ** i * factorial(rest) // factorial(i) for i in range(rest + 1))
    return integer(
        f"{n} letters are put into {n} addressed envelopes, one in each. In how many ways do exactly {k} reach the "
        "right one?",
        comb(n, k) * moved,
    )


def surjections(rng: random.Random, level: int) -> Problem:
    """Distributing different things so that nobody is left out."""
    people = rng.randint(2, 5)
    toys = rng.randint(people + 1, 9)
    answer = sum((-1) ** i * comb(people, i) * (people - i) ** toys for i in range(people + 1))
    return integer(
        f"In how many ways can {toys} different toys be given to {people} children so that each gets at least one?",
        answer,
    )


def no_two_ones(rng: random.Random, level: int) -> Problem:
    """Strings of bits without a run of ones."""
    n, run = rng.randint(6, 16), rng.randint(2, 4)
    # counts[i] is the number for length i: it ends in 0 after fewer than `run` ones, or is all ones.
    counts = [1]
    for size in range(1, n + 1):
        counts.append(sum(counts[size - 1 - ones] for ones in range(min(run, size))) + (size < run))
    return integer(f"How many strings of {n} bits have no {run} ones in a row?", counts[n])


def ballot_paths(rng: random.Random, level: int) -> Problem:
    """Counts in which one side never falls behind: the reflection principle."""
    a = rng.randint(4, 8)
    b = rng.randint(2, a)
    return integer(
        f"In an election, A gets {a} votes and B gets {b}. In how many orders can these be counted so that B is never "
        "ahead?",
        comb(a + b, b) - comb(a + b, b - 1),
    )


def necklaces(rng: random.Random, level: int) -> Problem:
    """Necklaces up to rotation: Burnside's lemma."""
    beads, colours = rng.randint(3, 8), rng.randint(2, 4)
    answer = sum(colours ** gcd(turn, beads) for turn in range(beads)) // beads
    return integer(
        f"How many necklaces of {beads} beads in {colours} colours are there, if those that differ by a rotation "
        "count once? Not all colours need occur.",
        answer,
    )


def partitions(rng: random.Random, level: int) -> Problem:
    """Partitions of a number into a number of parts."""
    n = rng.randint(7, 20)
    parts = rng.randint(2, 5)
    table = [[0] * (parts + 1) for _ in range(n + 1)]
    table[0][0] = 1
    for size in range(1, n + 1):
        for k in range(1, min(size, parts) + 1):
            # Either a part is 1, or 1 can be taken off each.
            table[size][k] = table[size - 1][k - 1] + table[size - k][k]
    return integer(
        f"In how many ways is {n} a sum of {parts} positive integers, if their order does not matter?", table[n][parts]
    )


def cycle_colourings(rng: random.Random, level: int) -> Problem:
    """Proper colourings of a cycle."""
    n, colours = rng.randint(3, 9), rng.randint(3, 6)
    return integer(
        f"The {n} corners of a polygon are numbered. In how many ways can they be painted in {colours} colours so that "
        "neighbours differ?",
        (colours - 1) ** n + (-1) ** n * (colours - 1),
    )


def expected_value(rng: random.Random, level: int) -> Problem:
    """The expected maximum or minimum of numbers drawn without putting back."""
    n = rng.randint(5, 20)
    k = rng.randint(2, 4)
    which, answer = rng.choice((("largest", Fraction(k * (n + 1), k + 1)), ("smallest", Fraction(n + 1, k + 1))))
    return number(
        f"Of the numbers 1 to {n}, {k} different ones are drawn at random. What is the expected value of the {which}?",
        answer,
    )


class Combinatorics(ProblemEnv):
    r"""Counting, probability, expected values.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (selection, arrangement, outfits, handshakes, dice_sum, numbers_between),
        "medium": (anagrams, sharing, lattice_paths, committee, bit_strings, round_table, draw_balls, dice_probability),
        "hard": (
            sharing, draw_balls, derangements, surjections, no_two_ones, ballot_paths, necklaces, partitions,
            cycle_colourings, expected_value,
        ),
    }  # fmt: skip
