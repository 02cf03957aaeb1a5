"""Second implementations of the hard puzzles: they look at everything there is, however long that takes."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from puzzle_oracles import Facts, pipeline, single


def path(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Costs of squares, improved until nothing changes."""
    (grid,) = given
    if len(grid) > 10:
        return None
    digits = {(y, x): int(c) for y, row in enumerate(grid) for x, c in enumerate(row) if c not in ("#", facts["wall"])}

    def entered(cost: float, square: tuple[int, int]) -> float:
        if "largest" in facts["cost"]:
            return max(cost, digits[square])
        if "sum" in facts["cost"]:
            return cost + facts["toll"] + digits[square]
        return cost + 1 + (facts["toll"] if digits[square] % 2 else 0)

    best = dict.fromkeys(digits, math.inf)
    best[0, 0] = digits[0, 0]
    if "number of moves" in facts["cost"]:
        best[0, 0] = facts["toll"] if digits[0, 0] % 2 else 0
    changed = True
    while changed:
        changed = False
        for y, x in digits:
            for dy, dx in facts["moves"]:
                to = y + dy, x + dx
                if to in digits and entered(best[y, x], to) < best[to]:
                    best[to] = entered(best[y, x], to)
                    changed = True
    found = best[len(grid) - 1, len(grid[0]) - 1]
    return -1 if found == math.inf else found


def texts_without(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Every text."""
    (n,) = given
    if len(facts["letters"]) ** n > 5000:
        return None
    texts = map("".join, itertools.product(facts["letters"], repeat=n))
    return sum(t.count("a") <= facts["most"] and not any(pair in t for pair in facts["forbidden"]) for t in texts)


def machine(facts: Facts, given: tuple[Any, ...]) -> Any:
    program, x = given
    register, at = {"A": x, "B": 0}, 0
    for _ in range(facts["steps"]):
        if not at < len(program):
            break
        a, b = register["A"], register["B"]
        change: dict[str, dict[str, int]] = {
            "inc": {"A": a + 1}, "dec": {"A": a - 1}, "dbl": {"A": a + a}, "neg": {"A": 0 - a}, "swp": {"A": b, "B": a},
            "add": {"A": b + a}, "sub": {"A": a - b}, "cpy": {"B": a}, "mod": {"A": a - 7 * math.floor(a / 7)},
        }  # fmt: skip
        jump = {"skp": at + 2 if not a else at + 1, "neq": at + 2 if a - b else at + 1, "bck": 0 if a < 0 else at + 1}
        name = program[at]
        register.update(change.get(name, {}))
        at = jump.get(name, 10**9 if name == "hlt" else at + 1)
    return register[facts["shown"]]


def choice(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Every choice."""
    weights, values, limit = given
    rule, k = facts["rule"], facts["k"]
    most = k if rule.startswith("each") else 1
    if (most + 1) ** len(weights) > 20000:
        return None
    worth = [v if w % facts["divisor"] else v + facts["more"] for w, v in zip(weights, values, strict=True)]
    best = 0
    for counts in itertools.product(range(most + 1), repeat=len(weights)):
        if rule.startswith("at most") and sum(counts) > k:
            continue
        if "neighbours" in rule and any(a and b for a, b in itertools.pairwise(counts)):
            continue
        if "even" in rule and sum(counts) % 2:
            continue
        if sum(c * w for c, w in zip(counts, weights, strict=True)) <= limit:
            best = max(best, sum(c * v for c, v in zip(counts, worth, strict=True)))
    return best


def intervals(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Every point, and every set of intervals or points."""
    starts, lengths = given
    if len(starts) > 9:
        return None
    spans = []
    for index, (a, n) in enumerate(zip(starts, lengths, strict=True)):
        first = a + sum(facts["shift"] for _ in range(index))
        spans.append(set(range(first, first + facts["growth"] * n)))
    points = sorted(set().union(*spans))
    if facts["asked"].startswith("the total"):
        return len(points)
    if facts["asked"].startswith("the largest number of them that cover"):
        return max((sum(p in span for span in spans) for p in points), default=0)
    if "no two" in facts["asked"]:
        sets = (chosen for size in range(len(spans), -1, -1) for chosen in itertools.combinations(spans, size))
        return next(
            len(chosen) for chosen in sets if all(a.isdisjoint(b) for a, b in itertools.combinations(chosen, 2))
        )
    ends = sorted({max(span) for span in spans})  # a point can be moved to the end of the first interval that ends
    sets = (chosen for size in range(len(ends) + 1) for chosen in itertools.combinations(ends, size))
    return next(len(chosen) for chosen in sets if all(span & set(chosen) for span in spans))


def recurrence(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Term by term."""
    (n,) = given
    if n > 3000:
        return None
    terms = list(facts["start"])
    while len(terms) <= n:
        terms.append(facts["p"] * terms[-1] + facts["q"] * terms[-2] + facts["r"])
    return terms[n] % facts["modulus"]


def stretches(facts: Facts, given: tuple[Any, ...]) -> Any:
    """Every stretch."""
    (xs,) = given
    if len(xs) > 100:
        return None
    k, m, long, asked = facts["k"], facts["m"], facts["long"], facts["asked"]
    parts = [xs[a:b] for a in range(len(xs)) for b in range(a + 1, len(xs) + 1)]
    if "remainder" in asked:
        return sum((sum(part) - m) / k == (sum(part) - m) // k for part in parts)
    if "sum is" in asked:
        return sum(sum(part) in (k, m) for part in parts)
    if "different" in asked:
        return sum(len(part) <= long and len(Counter(part)) <= m for part in parts)
    return sum(len(part) in range(m, long + 1) and part == sorted(part) for part in parts)


ORACLES: dict[str, Callable[[Facts, tuple[Any, ...]], Any]] = {
    **dict.fromkeys(("number", "numbers", "items", "letters"), single),
    **dict.fromkeys(("list_steps", "text_steps", "many_list_steps", "many_text_steps"), pipeline),
    "path": path, "texts_without": texts_without, "machine": machine, "choice": choice, "intervals": intervals,
    "recurrence": recurrence, "stretches": stretches,
}  # fmt: skip
"""For each kind of puzzle, the result for some arguments; None where that would take too long."""
