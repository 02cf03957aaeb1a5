"""Problems about orders, words, and arrangements that count as the same."""

import random
from collections import Counter
from fractions import Fraction
from math import gcd, prod

from gem_envs_math.combinatorics.choosing import orders
from gem_envs_math.counted import Number, choose, counted, factorial, like
from gem_envs_math.problem import Problem, integer


def anagrams(rng: random.Random, level: int) -> Problem:
    """The orders of letters, some of them equal."""
    size = rng.randint(6, 9)
    letters = [rng.choice("ABCDEF"[: rng.randint(3, 6)]) for _ in range(size - 2)]
    letters += letters[:2]
    rng.shuffle(letters)
    n, *repeats = counted(size, *Counter(letters).values())
    return integer(
        f"In how many different orders can the letters {''.join(letters)} be written?",
        factorial(n) / prod(factorial(count) for count in repeats if count > 1),
    )


def words(rng: random.Random, level: int) -> Problem:
    """Words with a number of one letter."""
    n, letters = rng.randint(4, 12), rng.randint(2, 4)
    k = rng.randint(1, n - 1)
    size, others = counted(n, letters - 1)
    how, counts = rng.choice((("exactly", [k]), ("at least", range(k, n + 1)), ("at most", range(k + 1))))
    return integer(
        f"How many words of {n} letters, each one of {', '.join('ABCD'[:letters])}, have the letter A {how} "
        f"{'once' if k == 1 else f'{k} times'}?",
        sum(choose(size, count) * others ** (n - count) for count in counts),
    )


def shelf(rng: random.Random, level: int) -> Problem:
    """Orders in which some stay together."""
    sizes = [rng.randint(2, 5) for _ in range(3)]
    a, b, c = counted(*sizes)
    subjects = rng.sample(("history", "physics", "poetry", "music", "law"), 3)
    listed = [f"{size} books on {subject}" for size, subject in zip(sizes, subjects, strict=True)]
    rule, answer = rng.choice(
        (
            (
                "the books on each subject stand together",
                lambda: factorial(a) * factorial(b) * factorial(c) * factorial(like(3, c)),
            ),
            (f"those on {subjects[0]} stand together", lambda: factorial(b + c + 1) * factorial(a)),
            (f"no two on {subjects[0]} stand side by side", lambda: factorial(b + c) * orders(b + c + 1, sizes[0])),
        )
    )
    return integer(
        f"{', '.join(listed[:-1])} and {listed[-1]}, all different, are put in a row on a shelf so that {rule}. "
        "In how many orders?",
        answer(),
    )


def misaddressed(rng: random.Random, level: int) -> Problem:
    """Permutations with fixed points: inclusion and exclusion."""
    n = rng.randint(5, 12)
    m = rng.randint(2, n - 2)
    size, bills = counted(n, m)

    def exactly(right: int) -> Number:
        """The permutations in which so many bills reach the right envelope."""
        some, every = bills - right, size - right
        moved = sum((-1) ** i * choose(some, i) * factorial(every - i) for i in range(m - right + 1))
        return choose(bills, right) * moved

    what, answer = rng.choice(
        (
            ("no bill reaches", lambda: exactly(0)),
            ("exactly one bill reaches", lambda: exactly(1)),
            ("exactly two bills reach", lambda: exactly(2)),
            ("at least one bill reaches", lambda: factorial(size) - exactly(0)),
            ("at least two bills reach", lambda: factorial(size) - exactly(0) - exactly(1)),
        )
    )
    return integer(
        f"{n} letters, {m} of them bills, are put into {n} addressed envelopes, one in each. In how many ways is this "
        f"possible if {what} the right envelope?",
        answer(),
    )


def surjections(rng: random.Random, level: int) -> Problem:
    """Words in which some letters must occur."""
    n, letters = rng.randint(5, 12), rng.randint(3, 12)
    wanted = rng.randint(2, min(4, letters))
    size, some = counted(letters, wanted)
    answer = sum((-1) ** i * choose(some, i) * (size - i) ** n for i in range(wanted + 1))
    listed = "ABCDEFGHIJKL"[:letters]
    must = f"{', '.join(listed[: wanted - 1])} and {listed[wanted - 1]}"
    return integer(
        f"How many words of {n} letters, each one of {', '.join(listed)}, have {must} at least once each?", answer
    )


def no_run(rng: random.Random, level: int) -> Problem:
    """Words without a run of one letter, by a recurrence."""
    n, run, letters = rng.randint(5, 20), rng.randint(2, 4), rng.randint(2, 6)
    (others,) = counted(letters - 1)
    # counts[i] is the number for length i: it ends in another letter after fewer than `run` of this, or is all of this.
    counts: list[Number] = [like(1, others)]
    for size in range(1, n + 1):
        counts.append(others * sum(counts[size - 1 - last] for last in range(min(run, size))) + (size < run))
    listed = "ABCDEF"[:letters]
    return integer(
        f"How many words of {n} letters, each one of {', '.join(listed)}, have no {run} letters A in a row?", counts[n]
    )


def ballot(rng: random.Random, level: int) -> Problem:
    """Counts in which one side never gets too far ahead: the reflection principle."""
    a, lead = rng.randint(5, 20), rng.randint(1, 3)
    b = rng.randint(4, a)
    first, second, most = counted(a, b, lead)
    return integer(
        f"In an election, A gets {a} votes and B gets {b}. In how many orders can these votes be counted so that B is "
        f"never ahead by {lead} or more?",
        choose(first + second, b) - choose(first + second, int(second - most)),
    )


def necklaces(rng: random.Random, level: int) -> Problem:
    """Necklaces up to rotations, or reflections too: Burnside's lemma."""
    beads, colours = counted(rng.randint(4, 12), rng.randint(2, 12))
    n = int(beads)
    turns = Counter(gcd(turn, n) for turn in range(n))
    total = sum((count * colours**cycles for cycles, count in turns.items()), start=Fraction(0))
    if rng.random() < 0.5:
        how, answer = "a rotation", total / n
    else:
        mirrors = n * colours ** (n // 2 + 1) if n % 2 else n // 2 * (colours ** (n // 2) + colours ** (n // 2 + 1))
        how, answer = "a rotation or by turning them over", (total + mirrors) / (2 * n)
    return integer(
        f"How many necklaces of {beads} beads in {colours} colours are there, if those that differ by {how} count "
        "once? Not all colours need occur.",
        answer,
    )


def partitions(rng: random.Random, level: int) -> Problem:
    """Partitions of a number into a number of parts."""
    parts = rng.randint(3, 5)
    n = rng.randint(4 * parts, 50)
    size, k = counted(n, parts)
    what, rest = rng.choice(
        (
            ("positive integers", lambda: size),
            ("non-negative integers", lambda: size + k),
            ("different positive integers", lambda: size - choose(k, 2)),
        )
    )
    most = int(rest())
    # Either a part is 1, or 1 can be taken off each.
    table: dict[tuple[int, int], Number] = {(0, 0): like(1, size)}
    for left in range(1, most + 1):
        for count in range(1, min(left, parts) + 1):
            table[left, count] = table.get((left - 1, count - 1), 0) + table.get((left - count, count), 0)
    question = f"In how many ways is {n} a sum of {parts} {what}, if their order does not matter?"
    return integer(question, table[most, parts])


def colourings(rng: random.Random, level: int) -> Problem:
    """Proper colourings of a cycle, a wheel, a ladder or a cycle with a chord."""
    corners, colours = rng.randint(4, 15), rng.randint(3, 9)
    n, c = corners, counted(colours)[0]

    def cycle(size: int, available: Fraction) -> Fraction:
        return (available - 1) ** size + (-1) ** size * (available - 1)

    shape, answer = rng.choice(
        (
            (f"The {n} corners of a polygon are numbered.", lambda: cycle(n, c)),
            (
                f"The {n} corners of a regular polygon are numbered, and its middle is a neighbour of each corner.",
                lambda: c * cycle(n, c - 1),
            ),
            (
                f"A table has 2 rows and {n} columns, and squares that share a side are neighbours.",
                lambda: c * (c - 1) * (c * c - 3 * c + 3) ** (n - 1),
            ),
            (
                f"The {n} corners of a polygon are numbered 1 to {n}; corners 1 and 3 are neighbours, too.",
                lambda: cycle(n - 1, c) * (c - 2),
            ),
        )
    )
    what = "they" if "corners" in shape and "middle" not in shape else "all of these"
    return integer(
        f"{shape} In how many ways can {what} be painted in {colours} colours so that neighbours differ?", answer()
    )
