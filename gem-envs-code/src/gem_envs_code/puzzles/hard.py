"""The hard puzzles: each needs an algorithm, on rules that are drawn."""

import random
from collections.abc import Callable
from typing import Any

from gem_envs_code.puzzles.draft import Draft, Kind, integers
from gem_envs_code.puzzles.pipelines import LONG_KINDS

_MODULUS = 1_000_000_007


def _different(draw: Callable[[], tuple[Any, ...]], first: list[tuple[Any, ...]], count: int) -> list[tuple[Any, ...]]:
    """`first`, and what `draw` returns, until there are `count` different ones."""
    found = list(first)
    while len(found) < count:
        given = draw()
        if given not in found:
            found.append(given)
    return found


_MOVES = {
    "right or down": [(0, 1), (1, 0)],
    "up, down, left or right": [(0, 1), (1, 0), (0, -1), (-1, 0)],
    "to any of the eight squares around it": [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b],
    "as a knight of chess does": [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)],
    "right, or diagonally down to the left or right": [(0, 1), (1, 1), (1, -1)],
}
_COSTS = {
    "the sum of the digits on the way, with those of the first and the last square, plus {toll} for each move":
        "cost + {toll} + int(grid[y][x])",
    "the largest digit on the way, with those of the first and the last square": "max(cost, int(grid[y][x]))",
    "the number of moves, plus {toll} for each square on the way with an odd digit, the first and the last included":
        "cost + 1 + {toll} * (int(grid[y][x]) % 2)",
}  # fmt: skip


def path(rng: random.Random) -> Draft:
    """The cheapest way through a grid."""
    moves, cost, toll = rng.choice(list(_MOVES)), rng.choice(list(_COSTS)), rng.randint(1, 9)
    wall = rng.choice("023456789")
    ends = [digit for digit in "123456789" if digit != wall]
    start = f"{toll} * (int(grid[0][0]) % 2)" if "number of moves" in cost else "int(grid[0][0])"

    def grid() -> tuple[list[str]]:
        height, width = rng.randint(2, 6), rng.randint(2, 6)
        rows = ["".join(rng.choice("0123456789#") for _ in range(width)) for _ in range(height)]
        rows[0] = rng.choice(ends) + rows[0][1:]
        rows[-1] = rows[-1][:-1] + rng.choice(ends)
        return (rows,)

    large = ["".join(rng.choice("0123456789999#") for _ in range(40)) for _ in range(40)]
    large[0], large[-1] = "1" + large[0][1:], large[-1][:-1] + "1"
    small = ["1#", "#1"], ["1" + wall, wall + "1"]
    return Draft(
        words="grid is a list of rows of equal length, of digits and #. One walks from its upper left square to its "
        f"lower right one, which are neither # nor {wall}. A move goes from a square {moves}, and never to a square "
        f"with # or {wall} or out of the grid. What a walk costs is {cost.format(toll=toll)}. It returns the cost of "
        "the cheapest walk, or -1 if there is none.",
        arguments={"grid": "texts"},
        body=[
            "height, width = len(grid), len(grid[0])",
            f"queue, done = [({start}, 0, 0)], set()",
            "while queue:",
            "    cost, y0, x0 = heapq.heappop(queue)",
            "    if (y0, x0) == (height - 1, width - 1):",
            "        return cost",
            "    if (y0, x0) in done:",
            "        continue",
            "    done.add((y0, x0))",
            f"    for dy, dx in {_MOVES[moves]}:",
            "        y, x = y0 + dy, x0 + dx",
            f"        if 0 <= y < height and 0 <= x < width and grid[y][x] not in '#{wall}':",
            f"            heapq.heappush(queue, ({_COSTS[cost].format(toll=toll)}, y, x))",
            "return -1",
        ],
        inputs=_different(grid, [grid(), ([ends[-1]],), *((each,) for each in small), (large,)], 14),
        facts={"moves": _MOVES[moves], "cost": cost, "toll": toll, "wall": wall},
        imports=["import heapq"],
    )


def texts_without(rng: random.Random) -> Draft:
    """Counting texts in which some letters must not follow others."""
    letters = "abcd"[: rng.randint(2, 4)]
    pairs = [a + b for a in letters for b in letters]
    forbidden = sorted(rng.sample(pairs, rng.randint(1, len(pairs) // 2)))
    most = rng.randint(2, 5)
    return Draft(
        words=f"It returns how many texts of n letters there are, each of the letters {', '.join(letters)}, in which "
        f"none of {', '.join(forbidden)} occurs and the letter a occurs at most {most} times. As that may be a large "
        f"number, it returns its remainder when divided by {_MODULUS}.",
        arguments={"n": "int"},
        body=[
            "ways = {('', 0): 1}",
            "for _ in range(n):",
            "    following = {}",
            "    for (last, count), number in ways.items():",
            f"        for c in {letters!r}:",
            "            more = count + (c == 'a')",
            f"            if last + c not in {forbidden!r} and more <= {most}:",
            "                following[c, more] = following.get((c, more), 0) + number",
            "    ways = following",
            f"return sum(ways.values()) % {_MODULUS}",
        ],
        inputs=_different(lambda: (rng.randint(1, 200),), [(3,), (0,), (1,), (2,), (5,), (700,)], 12),
        facts={"letters": letters, "forbidden": forbidden, "most": most},
    )


_INSTRUCTIONS = {
    "inc": ("adds 1 to A", "a += 1"),
    "dec": ("subtracts 1 from A", "a -= 1"),
    "dbl": ("doubles A", "a *= 2"),
    "neg": ("changes the sign of A", "a = -a"),
    "swp": ("exchanges A and B", "a, b = b, a"),
    "add": ("adds B to A", "a += b"),
    "sub": ("subtracts B from A", "a -= b"),
    "cpy": ("copies A to B", "b = a"),
    "skp": ("skips the next instruction if A is 0", "i += a == 0"),
    "neq": ("skips the next instruction if A is not equal to B", "i += a != b"),
    "bck": ("goes back to the first instruction if A is less than 0", "i = 0 if a < 0 else i"),
    "hlt": ("ends the program", "i = len(program)"),
    "mod": ("replaces A by its remainder when divided by 7, from 0 to 6", "a %= 7"),
}


def machine(rng: random.Random) -> Draft:
    """An interpreter of a small machine."""
    names = rng.sample(list(_INSTRUCTIONS), rng.randint(5, 8))
    steps, shown = rng.choice((20, 50)), rng.choice("AB")
    meaning = "; ".join(f"{name} {_INSTRUCTIONS[name][0]}" for name in names)

    def program() -> tuple[list[str], int]:
        return [rng.choice(names) for _ in range(rng.randint(3, 12))], rng.randint(-9, 9)

    return Draft(
        words="program is a list of instructions of a machine with two registers, A and B. "
        f"{meaning[0].upper()}{meaning[1:]}. At the beginning A is x and B is 0. The instructions are carried out "
        f"one after another, beginning with the first, until there is no next one or {steps} have been carried out. "
        f"It returns {shown} at the end.",
        arguments={"program": "texts", "x": "int"},
        body=[
            "a, b, i = x, 0, 0",
            f"for _ in range({steps}):",
            "    if i >= len(program):",
            "        break",
            "    name = program[i]",
            "    i += 1",
            *(
                line
                for number, name in enumerate(names)
                for line in (f"    {'el' if number else ''}if name == {name!r}:", f"        {_INSTRUCTIONS[name][1]}")
            ),
            f"return {shown.lower()}",
        ],
        inputs=_different(program, [program(), ([], 3), ([names[0]], -1)], 14),
        facts={"names": names, "steps": steps, "shown": shown},
    )


def choice(rng: random.Random) -> Draft:
    """Choosing items of a limited weight."""
    rule = rng.choice(
        ("at most {k} items", "no two neighbours", "each item up to {k} times", "an even number of items")
    )
    k, more, divisor = rng.randint(2, 4), rng.randint(2, 9), rng.randint(2, 5)
    words = rule.format(k=k)
    inner = {
        "at most {k} items": [
            f"best = [[0] * (limit + 1) for _ in range({k + 1})]",
            "for w, v in zip(weights, values):",
            f"    for count in range({k}, 0, -1):",
            "        for room in range(limit, w - 1, -1):",
            "            best[count][room] = max(best[count][room], best[count - 1][room - w] + v)",
            "return max(row[limit] for row in best)",
        ],
        "no two neighbours": [
            "taken, free = [-1] * (limit + 1), [0] * (limit + 1)",
            "for w, v in zip(weights, values):",
            "    both = [max(pair) for pair in zip(taken, free)]",
            "    taken = [free[room - w] + v if room >= w else -1 for room in range(limit + 1)]",
            "    free = both",
            "return max(taken[limit], free[limit])",
        ],
        "each item up to {k} times": [
            "best = [0] * (limit + 1)",
            "for w, v in zip(weights, values):",
            f"    for _ in range({k}):",
            "        for room in range(limit, w - 1, -1):",
            "            best[room] = max(best[room], best[room - w] + v)",
            "return best[limit]",
        ],
        "an even number of items": [
            "even, odd = [0] * (limit + 1), [-10 ** 9] * (limit + 1)",
            "for w, v in zip(weights, values):",
            "    for room in range(limit, w - 1, -1):",
            "        even[room], odd[room] = max(even[room], odd[room - w] + v), max(odd[room], even[room - w] + v)",
            "return even[limit]",
        ],
    }[rule]

    def given(size: int) -> tuple[list[int], list[int], int]:
        weights = [rng.randint(1, 12) for _ in range(size)]
        return weights, [rng.randint(1, 20) for _ in weights], rng.randint(5, 30)

    large = ([rng.randint(1, 50) for _ in range(60)], [rng.randint(1, 99) for _ in range(60)], 400)
    first: list[tuple[Any, ...]] = [given(5), ([], [], 4), ([3], [5], 2), ([3], [5], 3), large]
    return Draft(
        words="Item i weighs weights[i] and is worth values[i]; all of them are positive integers. An item whose "
        f"weight is divisible by {divisor} is worth {more} more. One chooses {words}, of a total weight of at most "
        "limit. It returns the largest total value; to choose nothing is worth 0.",
        arguments={"weights": "ints", "values": "ints", "limit": "int"},
        body=[f"values = [v + {more} * (w % {divisor} == 0) for w, v in zip(weights, values)]", *inner],
        inputs=_different(lambda: given(rng.randint(2, 9)), first, 14),
        facts={"rule": rule, "k": k, "more": more, "divisor": divisor},
    )


_INTERVAL_QUESTIONS = {
    "the total length of what at least one of them covers": [
        "end, total = None, 0",
        "for a, b in sorted(spans):",
        "    if end is None or a > end:",
        "        total, end = total + b - a, b",
        "    elif b > end:",
        "        total, end = total + b - end, b",
        "return total",
    ],
    "the largest number of them that cover a point": [
        "changes = sorted([(a, 1) for a, _ in spans] + [(b, -1) for _, b in spans])",
        "now = best = 0",
        "for _, change in changes:",
        "    now += change",
        "    best = max(best, now)",
        "return best",
    ],
    "the largest number of them of which no two have a point in common": [
        "end, count = None, 0",
        "for b, a in sorted((b, a) for a, b in spans):",
        "    if end is None or a >= end:",
        "        end, count = b, count + 1",
        "return count",
    ],
    "the smallest number of points such that each of them has at least one of the points, which are integers": [
        "last, count = None, 0",
        "for b, a in sorted((b, a) for a, b in spans):",
        "    if last is None or a > last:",
        "        last, count = b - 1, count + 1",
        "return count",
    ],
}


def intervals(rng: random.Random) -> Draft:
    """Questions about intervals."""
    asked = rng.choice(list(_INTERVAL_QUESTIONS))
    growth, shift = rng.randint(2, 9), rng.randint(1, 9)

    def given(size: int, far: int) -> tuple[list[int], list[int]]:
        return [rng.randint(0, far) for _ in range(size)], [rng.randint(1, far // 3) for _ in range(size)]

    first: list[tuple[Any, ...]] = [
        given(4, 12),
        ([], []),
        ([3], [2]),
        ([1, 1 + growth - shift], [1, 1]),
        given(3000, 10**6),
    ]
    return Draft(
        words=f"Interval i, counted from 0, begins with starts[i] + {shift} * i, which belongs to it, and ends before "
        f"the number that is {growth} * lengths[i] larger, which does not; all lengths are positive integers. It "
        f"returns {asked}; for no intervals, 0.",
        arguments={"starts": "ints", "lengths": "ints"},
        body=[
            f"firsts = [a + {shift} * i for i, a in enumerate(starts)]",
            f"spans = [(a, a + {growth} * n) for a, n in zip(firsts, lengths)]",
            *_INTERVAL_QUESTIONS[asked],
        ],
        inputs=_different(lambda: given(rng.randint(2, 9), 15), first, 14),
        facts={"asked": asked, "growth": growth, "shift": shift},
    )


def recurrence(rng: random.Random) -> Draft:
    """A late term of a sequence, which cannot be reached step by step."""
    p, q, r = (rng.randint(1, 9) for _ in range(3))
    a, b = rng.randint(0, 9), rng.randint(0, 9)
    modulus = rng.choice((1_000, 9_973, 1_000_003, _MODULUS))
    late = [(10**18,), (rng.randint(10**15, 10**18),), (rng.randint(10**9, 10**12),)]
    return Draft(
        words=f"A sequence begins with x(0) = {a} and x(1) = {b}. Each later term is x(n) = {p} * x(n - 1) + {q} * "
        f"x(n - 2) + {r}. It returns the remainder of x(n) divided by {modulus}. n may be as large as 10 ** 18.",
        arguments={"n": "int"},
        body=[
            "def times(s, t):",
            f"    return [[sum(s[i][k] * t[k][j] for k in range(3)) % {modulus} for j in range(3)] for i in range(3)]",
            f"power, base = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[{p}, {q}, {r}], [1, 0, 0], [0, 0, 1]]",
            "while n:",
            "    if n & 1:",
            "        power = times(power, base)",
            "    base, n = times(base, base), n >> 1",
            f"return (power[1][0] * {b} + power[1][1] * {a} + power[1][2]) % {modulus}",
        ],
        inputs=_different(lambda: (rng.randint(3, 10**6),), [(4,), (0,), (1,), (2,), (3,), *late], 12),
        facts={"start": (a, b), "p": p, "q": q, "r": r, "modulus": modulus},
    )


_COUNTED = {
    "whose sum leaves the remainder {m} when it is divided by {k}": [
        "seen, total, count = {0: 1}, 0, 0",
        "for x in xs:",
        "    total = (total + x) % {k}",
        "    count += seen.get((total - {m}) % {k}, 0)",
        "    seen[total] = seen.get(total, 0) + 1",
        "return count",
    ],
    "whose sum is {k} or {m}": [
        "seen, total, count = {0: 1}, 0, 0",
        "for x in xs:",
        "    total += x",
        "    count += seen.get(total - {k}, 0) + seen.get(total - {m}, 0)",
        "    seen[total] = seen.get(total, 0) + 1",
        "return count",
    ],
    "of at most {long} items of which at most {m} are different": [
        "left, count, inside = 0, 0, {}",
        "for right, x in enumerate(xs):",
        "    inside[x] = inside.get(x, 0) + 1",
        "    while len(inside) > {m}:",
        "        inside[xs[left]] -= 1",
        "        if not inside[xs[left]]:",
        "            del inside[xs[left]]",
        "        left += 1",
        "    count += min({long}, right - left + 1)",
        "return count",
    ],
    "of {m} to {long} items that do not decrease from one to the next": [
        "run = count = 0",
        "for i, x in enumerate(xs):",
        "    run = run + 1 if i and x >= xs[i - 1] else 1",
        "    count += max(0, min(run, {long}) - {m} + 1)",
        "return count",
    ],
}


def stretches(rng: random.Random) -> Draft:
    """Counting parts of a list, which is too long to look at each part."""
    asked, (m, k), long = rng.choice(list(_COUNTED)), sorted(rng.sample(range(2, 13), 2)), rng.randint(3, 20)
    if "{long}" in asked:
        m = rng.randint(2, 5 if "different" in asked else 3)
    long = max(long, m + 1)
    many = [rng.randint(-9, 9) for _ in range(20_000)]
    first: list[tuple[Any, ...]] = [
        ([3, 1, 2, 2, 5],), ([],), ([k],), ([m] * 5,), ([0, 0, 0],), (list(range(-30, 30)),), (many,),
    ]  # fmt: skip

    def filled(text: str) -> str:
        for name, number in (("{k}", k), ("{m}", m), ("{long}", long)):
            text = text.replace(name, str(number))
        return text

    return Draft(
        words="A stretch of xs is one item or several in a row. Two stretches differ if they begin or end at "
        f"different positions. It returns the number of stretches {filled(asked)}. xs may have 20,000 items.",
        arguments={"xs": "ints"},
        body=[filled(line) for line in _COUNTED[asked]],
        inputs=_different(lambda: (integers(rng),), first, 14),
        facts={"asked": asked, "k": k, "m": m, "long": long},
    )


KINDS: tuple[Kind, ...] = (
    *LONG_KINDS, path, texts_without, machine, choice, intervals, recurrence, stretches,
)  # fmt: skip
