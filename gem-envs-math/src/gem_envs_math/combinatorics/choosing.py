"""Problems about choosing some of several things."""

import random
from fractions import Fraction
from math import prod

from gem_envs_math.counted import choose, counted, like
from gem_envs_math.problem import Problem, integer


def menu(rng: random.Random, level: int) -> Problem:
    """The product rule, with a course that may be left out."""
    a, b, c = counted(*(rng.randint(3, 12) for _ in range(3)))
    what, answer = rng.choice(
        (
            ("all three courses", lambda: a * b * c),
            ("a main course, and a starter or a dessert but not both", lambda: b * (a + c)),
            ("a main course, and a starter and a dessert if one likes", lambda: (a + 1) * b * (c + 1)),
        )
    )
    return integer(
        f"A menu has {a} starters, {b} main courses and {c} desserts. How many meals are there with {what}?", answer()
    )


def podium(rng: random.Random, level: int) -> Problem:
    """Orders of the first k of n, of whom the winner is one of some."""
    n, own, k = rng.randint(8, 30), rng.randint(2, 7), rng.randint(2, 3)
    runners, locals_ = counted(n, own)
    others = orders(runners - 1, k - 1)
    which, first = rng.choice((("one", lambda: locals_), ("none", lambda: runners - locals_)))
    return integer(
        f"{n} runners, {own} of them from this town, run for the first {k} places. In how many ways can these be taken "
        f"if the winner is {which} of these {own}?",
        first() * others,
    )


def pairs(rng: random.Random, level: int) -> Problem:
    """Pairs within and between two groups."""
    a, b = counted(rng.randint(4, 25), rng.randint(4, 25))
    shown, answer = rng.choice(
        (
            ("each girl with each boy, and each girl with each other girl", lambda: a * b + choose(a, 2)),
            ("the girls with each other, and the boys with each other", lambda: choose(a, 2) + choose(b, 2)),
            ("each child with each other child", lambda: choose(a + b, 2)),
        )
    )
    return integer(f"{a} girls and {b} boys play chess, once each: {shown}. How many games are there?", answer())


def two_clubs(rng: random.Random, level: int) -> Problem:
    """Inclusion and exclusion with two sets."""
    first, second, shared, none = (rng.randint(*ends) for ends in ((8, 50), (8, 50), (3, 40), (2, 40)))
    total, one, other, both, neither = counted(
        first + second + shared + none, first + shared, second + shared, shared, none
    )
    known, asked, answer = rng.choice(
        (
            (f"{both} learn both", "learn neither", lambda: total - (one + other - both)),
            (f"{neither} learn neither", "learn both", lambda: one + other - (total - neither)),
            (f"{both} learn both", "learn exactly one of the two", lambda: one + other - 2 * both),
        )
    )
    return integer(
        f"Of {total} pupils, {one} learn French, {other} learn Spanish, and {known}. How many {asked}?", answer()
    )


def pigeonhole(rng: random.Random, level: int) -> Problem:
    """How many must be drawn to be sure: the worst case, plus one."""
    sizes, k = [rng.randint(2, 15) for _ in range(rng.randint(3, 4))], rng.randint(3, 8)
    if max(sizes) < k:
        sizes[0] = rng.randint(k, 15)
    *drawn, least = counted(*sizes, k)
    most = least - 1
    colours = ("red", "blue", "green", "white")
    listed = [f"{size} {colour}" for size, colour in zip(sizes, colours, strict=False)]
    return integer(
        f"A drawer has {', '.join(listed[:-1])} and {listed[-1]} socks. How many must one take out in the dark to be "
        f"sure of {k} of one colour?",
        sum(size if size < most else most for size in drawn) + 1,
    )


def codes(rng: random.Random, level: int) -> Problem:
    """Words of letters and digits, with or without repetition."""
    one, other = rng.randint(1, 3), rng.randint(2, 3)
    m, n = counted(rng.randint(4, 12), rng.randint(4, 10))
    rule, answer = rng.choice(
        (
            ("symbols may be used again", lambda: m**one * n**other),
            ("no symbol is used twice", lambda: orders(m, one) * orders(n, other)),
        )
    )
    return integer(
        f"A code is {one} of the first {m} letters of the alphabet, then {other} of the digits 0 to {int(n) - 1}; "
        f"{rule}. How many codes are there?",
        answer(),
    )


def two_kinds(rng: random.Random, level: int) -> Problem:
    """Choosing some of each of two kinds."""
    a, b = counted(rng.randint(4, 15), rng.randint(4, 15))
    k, m = rng.randint(2, 3), rng.randint(2, 3)
    question = f"In how many ways can {k} of {a} novels and {m} of {b} comics be chosen?"
    return integer(question, choose(a, k) * choose(b, m))


def sharing(rng: random.Random, level: int) -> Problem:
    """Stars and bars; at the hard level nobody gets more than a limit."""
    people = rng.randint(3, 6)
    if level == 1:
        least = rng.randint(0, 3)
        coins, share, n = counted(rng.randint(least * people + 4, 40), least, people)
        rule = f" so that each gets at least {least}" if least else ""
        answer = choose(coins - share * n + n - 1, people - 1)
        return integer(f"In how many ways can {coins} equal coins be given to {people} people{rule}?", answer)
    coins, n = counted(rng.randint(9, 30), people)
    limit = rng.randint(-(-int(coins) // people), int(coins) // 2)
    # Inclusion and exclusion over the people who get more than the limit.
    answer = sum(
        (-1) ** over * choose(n, over) * choose(coins - over * (like(limit, n) + 1) + n - 1, people - 1)
        for over in range(int(coins) // (limit + 1) + 1)
    )
    rule = f" so that nobody gets more than {limit}"
    return integer(f"In how many ways can {coins} equal coins be given to {people} people{rule}?", answer)


def lattice_paths(rng: random.Random, level: int) -> Problem:
    """Shortest paths in a grid through a point or not; at the hard level they avoid two."""
    width, height = rng.randint(4, 9), rng.randint(4, 9)
    x, y = rng.randint(1, width - 2), rng.randint(1, height - 2)
    w, h, a, b = counted(width, height, x, y)
    start = f"A path goes from (0, 0) to ({w}, {h}) in steps of 1 to the right or up"
    first = choose(a + b, x) * choose(w - a + h - b, width - x)
    if level == 1:
        if rng.random() < 0.5:
            return integer(f"{start}, through ({a}, {b}). How many such paths are there?", first)
        every = choose(w + h, width)
        return integer(f"{start}, but not through ({a}, {b}). How many such paths are there?", every - first)
    u, v = rng.randint(x, width - 1), rng.randint(y + 1, height - 1)
    c, d = like(u, w), like(v, w)
    second = choose(c + d, u) * choose(w - c + h - d, width - u)
    both = choose(a + b, x) * choose(c - a + d - b, u - x) * choose(w - c + h - d, width - u)
    return integer(
        f"{start}, but neither through ({a}, {b}) nor through ({c}, {d}). How many such paths are there?",
        choose(w + h, width) - first - second + both,
    )


def committee(rng: random.Random, level: int) -> Problem:
    """Choosing from two groups with a least number of one."""
    women, men, size = rng.randint(4, 14), rng.randint(4, 14), rng.randint(3, 5)
    least = rng.randint(1, size - 1)
    w, m = counted(women, men)
    ways = (choose(w, k) * choose(m, size - k) for k in range(least, min(size, women) + 1))
    return integer(
        f"A committee of {size} is chosen from {women} women and {men} men, with at least {least} of the women. "
        "In how many ways?",
        sum(way for way in ways if way),
    )


def couples(rng: random.Random, level: int) -> Problem:
    """People of whom some are couples."""
    n, k = rng.randint(5, 40), rng.randint(3, 5)
    together = rng.randint(0, k // 2)
    (size,) = counted(n)
    single = k - 2 * together
    rule = ("no couple is", "exactly one couple is", "exactly two couples are")[together]
    return integer(
        f"Of the {2 * n} people in {n} couples, {k} are chosen so that {rule} among them. In how many ways?",
        choose(size, together) * choose(size - together, single) * like(2, size) ** single,
    )


def orders(n: Fraction, k: int) -> Fraction:
    """Orders of k of n things."""
    return prod((n - place for place in range(1, k)), start=n)
