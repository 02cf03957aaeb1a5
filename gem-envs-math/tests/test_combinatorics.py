"""`math:Combinatorics-v0`: every answer is found again by listing what is counted, or by counting step by step."""

import re
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, prod

import pytest
from drawn_problems import cases, draws, ids, integers, numbers

from gem_envs_math.combinatorics.env import Combinatorics


def size(iterable):
    return sum(1 for _ in iterable)


def menu(text):
    a, b, c = (range(size) for size in integers(text))
    if "all three" in text:
        return size(product(a, b, c))
    meals = product([None, *a], b, [None, *c])
    return sum(not ("not both" in text and (starter is None) == (dessert is None)) for starter, _, dessert in meals)


def podium(text):
    n, own, k, _ = integers(text)
    return sum((order[0] < own) == ("is one of" in text) for order in permutations(range(n), k))


def pairs(text):
    girls, boys = integers(text)
    games = list(combinations(["g"] * girls + ["b"] * boys, 2))
    if "each child" in text:
        return len(games)
    return sum(("g" in game) if "each girl" in text else one == other for game in games for one, other in [game])


def two_clubs(text):
    """By trying how many learn both."""
    every, one, other, known = integers(text)
    for both in range(min(one, other) + 1):
        neither = every - one - other + both
        if known == (both if "learn both. " in text else neither):
            break
    return {"neither": neither, "both": both}.get(re.search(r"(\w+)\?$", text)[1], one - both + other - both)


def pigeonhole(text):
    *sizes, k = integers(text)
    worst = max(
        sum(taken) for taken in product(*(range(min(size, k - 1) + 1) for size in sizes)) if all(n < k for n in taken)
    )
    return worst + 1


def codes(text):
    one, letters, other, _, last = integers(text)
    total = [1, 1]
    for index, (length, symbols) in enumerate(((one, letters), (other, last + 1))):
        words = permutations(range(symbols), length) if "twice" in text else product(range(symbols), repeat=length)
        total[index] = size(words)
    return prod(total)


def two_kinds(text):
    k, a, m, b = integers(text)
    return size(product(combinations(range(a), k), combinations(range(b), m)))


def anagrams(text):
    letters = re.search("letters ([A-Z]+) be", text)[1]

    @cache
    def orders(left):
        return sum(orders(left.replace(letter, "", 1)) for letter in set(left)) or 1

    return orders("".join(sorted(letters)))


def sharing(text):
    coins, people, *bound = integers(text)
    least, most = (0, bound[0]) if "more than" in text else (sum(bound), coins)

    @cache
    def ways(left, others):
        if not others:
            return int(left == 0)
        return sum(ways(left - given, others - 1) for given in range(least, min(left, most) + 1))

    return ways(coins, people)


def lattice_paths(text):
    (_, _), (width, height), *points = ((int(x), int(y)) for x, y in re.findall(r"\((\d+), (\d+)\)", text))
    avoided = "not through" in text or "neither" in text

    @cache
    def paths(right, up, met):
        met = met or (right, up) in points
        if (right, up) == (width, height):
            return int(met != avoided)
        ahead = [(right + 1, up), (right, up + 1)]
        return sum(paths(*place, met) for place in ahead if place[0] <= width and place[1] <= height)

    return paths(0, 0, False)


def committee(text):
    members, women, men, least = integers(text)
    ways = Counter({(0, 0): 1})
    for person in range(women + men):
        for (chosen, female), count in list(ways.items()):
            ways[chosen + 1, female + (person < women)] += count
    return sum(count for (chosen, female), count in ways.items() if chosen == members and female >= least)


def words(text):
    n, *k = integers(text)
    k = k[0] if k else 1
    alphabet = re.search("one of (.*), have", text)[1].split(", ")
    ways = Counter({0: 1})
    for _ in range(n):
        ways = sum(
            (Counter({had + (letter == "A"): count for had, count in ways.items()}) for letter in alphabet), Counter()
        )
    test = {"exactly": k.__eq__, "at least": k.__le__, "at most": k.__ge__}[
        re.search("exactly|at least|at most", text)[0]
    ]
    return sum(count for had, count in ways.items() if test(had))


def shelf(text):
    """By placing book after book; what matters is the subject of the last one, and how many of each are left."""
    sizes, first = integers(text), re.search(r"books on (\w+)", text)[1]
    every = "each subject" in text

    @cache
    def orders(left, last):
        if not any(left):
            return 1
        total = 0
        for subject, books in enumerate(left):
            begun = books < sizes[subject]
            together = every or (f"those on {first}" in text and subject == 0)
            apart = f"no two on {first}" in text and subject == 0
            if not books or (together and begun and last != subject) or (apart and last == subject):
                continue
            total += books * orders(tuple(n - (index == subject) for index, n in enumerate(left)), subject)
        return total

    return orders(tuple(sizes), None)


def couples(text):
    people, n, k = integers(text)
    wanted = {"no": 0, "exactly one": 1, "exactly two": 2}[re.search(r"that (\D+) couple", text)[1]]
    assert people == 2 * n
    ways = Counter({(0, 0): 1})
    for _ in range(n):
        grown = Counter()
        for (chosen, both), count in ways.items():
            for taken in (0, 1, 1, 2):
                grown[chosen + taken, both + (taken == 2)] += count
        ways = grown
    return ways[k, wanted]


def drawn_red(red, blue, drawn):
    return [sum(ball < red for ball in balls) for balls in combinations(range(red + blue), drawn)]


def draw_balls(text):
    red, blue, drawn, wanted = integers(text)
    counts = drawn_red(red, blue, drawn)
    return Fraction(sum(n == wanted if "exactly" in text else n >= wanted for n in counts), len(counts))


def dice_probability(text):
    _, a, _, b, target = integers(text)
    sums = [x + y for x, y in product(range(1, a + 1), range(1, b + 1))]
    return Fraction(sum(n == target if "exactly" in text else n >= target for n in sums), len(sums))


def bayes(text):
    r, b, s, c, faces, *drawn = integers(text)
    k = drawn[0] if drawn else 1
    shares = []
    for sides, red, blue in ((faces, r, b), (6 - faces, s, c)):
        counts = drawn_red(red, blue, k)
        shares.append(Fraction(sides * counts.count(k), len(counts)))
    return shares[0] / sum(shares)


def three_colours(text):
    a, b, c, drawn = integers(text)
    seen = [len(set(balls)) for balls in combinations("a" * a + "b" * b + "c" * c, drawn)]
    return Fraction(seen.count(3 if "all three" in text else 2), len(seen))


def misaddressed(text):
    """Letter by letter: which envelopes of bills are left decides what can still come right."""
    n, bills, _ = integers(text)
    wanted = re.search(r"possible if (.*?) bills? reach", text)[1]

    @cache
    def ways(letter, used):
        if letter == bills:
            return {0: prod(range(1, n - bills + 1))}
        found = Counter()
        # Envelopes of other letters are alike.
        others = n - bills - sum(1 for place in used if place is None)
        choices = [(place, 1) for place in range(bills) if place not in used] + [(None, others)] * (others > 0)
        for place, count in choices:
            rest = (*used, place) if place is None else tuple(sorted((*used, place), key=str))
            for hits, more in ways(letter + 1, rest).items():
                found[hits + (place == letter)] += count * more
        return found

    counts = ways(0, ())
    tests = {
        "no": [0],
        "exactly one": [1],
        "exactly two": [2],
        "at least one": range(1, n),
        "at least two": range(2, n),
    }
    return sum(counts.get(hits, 0) for hits in tests[wanted])


def surjections(text):
    n = integers(text)[0]
    alphabet, must = re.search(r"one of (.*), have (.*) at least", text).groups()
    must, ways = set(re.findall("[A-Z]", must)), {frozenset(): 1}
    for _ in range(n):
        grown = Counter()
        for seen, count in ways.items():
            for letter in alphabet.split(", "):
                grown[seen | ({letter} & must)] += count
        ways = grown
    return ways[frozenset(must)]


def no_run(text):
    n, run = integers(text)
    alphabet = re.search("one of (.*), have", text)[1].split(", ")

    @cache
    def strings(length, last):
        if last == run:
            return 0
        if length == n:
            return 1
        return sum(strings(length + 1, last + 1 if letter == "A" else 0) for letter in alphabet)

    return strings(0, 0)


def ballot(text):
    a, b, lead = integers(text)

    @cache
    def orders(first, second):
        if second - first >= lead or first > a or second > b:
            return 0
        return int((first, second) == (a, b)) or orders(first + 1, second) + orders(first, second + 1)

    return orders(0, 0)


def necklaces(text):
    """By what each rotation (and reflection) leaves alone: the cycles are followed bead by bead."""
    beads, colours = integers(text)
    moves = [[(bead + turn) % beads for bead in range(beads)] for turn in range(beads)]
    if "turning" in text:
        moves += [move[::-1] for move in moves]
    total = 0
    for move in moves:
        left, cycles = set(range(beads)), 0
        while left:
            bead, cycles = left.pop(), cycles + 1
            while move[bead] in left:
                bead = move[bead]
                left.remove(bead)
        total += colours**cycles
    return Fraction(total, len(moves))


def listed_necklaces(beads, colours, *, turned):
    """By listing all strings and keeping the first of each class."""

    def same(string):
        turns = [string[turn:] + string[:turn] for turn in range(beads)]
        return min(turns + [each[::-1] for each in turns] if turned else turns)

    return len({same(string) for string in product(range(colours), repeat=beads)})


def partitions(text):
    n, parts = integers(text)
    least, gap = int("non-negative" not in text), int("different" in text)

    @cache
    def ways(left, count, most):
        if not count:
            return int(left == 0)
        return sum(ways(left - part, count - 1, part - gap) for part in range(least, min(left, most) + 1))

    return ways(n, parts, n)


def colourings(text):
    """Corner by corner; of those that are painted, the colours of the ones with an edge to come matter."""
    colours = integers(text)[-1]
    n = integers(text)[1 if "table" in text else 0]
    if "table" in text:
        corners = [(row, column) for column in range(n) for row in range(2)]
        edges = [{p, q} for p, q in combinations(corners, 2) if abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1]
    else:
        corners = list(range(n))
        edges = [{corner, (corner + 1) % n} for corner in corners] + [{0, 2}] * ("corners 1 and 3" in text)
        if "middle" in text:
            edges += [{corner, "middle"} for corner in corners]
            corners.insert(0, "middle")
    ways = {(): 1}
    for place, corner in enumerate(corners):
        near = [c for c in corners[:place] if {c, corner} in edges]
        kept = [c for c in corners[: place + 1] if any({c, later} in edges for later in corners[place + 1 :])]
        grown = Counter()
        for state, count in ways.items():
            known = dict(state)
            taken = {known[c] for c in near}
            for colour in range(colours if place else 1):  # the colours of the first corner are alike
                if colour not in taken:
                    known[corner] = colour
                    grown[tuple((c, known[c]) for c in kept)] += count
        ways = grown
    return colours * sum(ways.values())


def expected_draw(text):
    """From the numbers of sets with each largest, second largest and smallest number."""
    n, k = integers(text)[1:3]
    ways = [[comb(m, j) for j in range(k + 1)] for m in range(n + 1)]
    every = ways[n][k]
    smallest = Fraction(sum(m * ways[n - m][k - 1] for m in range(1, n + 1)), every)
    largest = Fraction(sum(m * ways[m - 1][k - 1] for m in range(1, n + 1)), every)
    if "second" in text:
        return Fraction(sum(m * ways[m - 1][k - 2] * (n - m) for m in range(1, n + 1)), every)
    if "difference" in text:
        return largest - smallest
    return Fraction(sum(m * ways[n - 1][k - 1] for m in range(1, n + 1)), every) - smallest


def expected_dice(text):
    _, a, _, b = integers(text)
    asked = {"larger": max, "smaller": min}.get(
        re.search("value of the (.*?) ", text)[1], lambda pair: abs(pair[0] - pair[1])
    )
    found = [asked(pair) for pair in product(range(1, a + 1), range(1, b + 1))]
    return Fraction(sum(found), len(found))


def solver_of(kind):
    return globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Combinatorics), ids=ids)
def test_the_answer_is_what_counting_gives(kind, level):
    for problem in draws(kind, level):
        assert [solver_of(kind)(problem.question)] == numbers(problem.answer), problem


def test_necklaces_that_are_the_same_count_once():
    for beads, colours, turned in product((4, 5, 6), (2, 3), (False, True)):
        words = "a rotation or by turning them over" if turned else "a rotation"
        text = (
            f"How many necklaces of {beads} beads in {colours} colours are there, if those that differ by {words} count"
        )
        assert necklaces(text) == listed_necklaces(beads, colours, turned=turned)
