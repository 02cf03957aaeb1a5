"""The easy puzzles: one expression of two or three operations on a number or two, a list, or a text."""

import random
from typing import NamedTuple

from gem_envs_code.puzzles.draft import Draft, Kind, Type, inputs_for


class _Rule(NamedTuple):
    words: str
    """The result in words; `{k}` and `{m}` are two numbers from 2 to 9 or 20, `{c}` and `{d}` two letters."""
    expression: str
    """The same in Python."""


_RULES: dict[str, list[_Rule]] = {
    "number": [
        _Rule("{k} times a, plus {m}", "{k} * a + {m}"),
        _Rule("{k} times a, minus {m}", "{k} * a - {m}"),
        _Rule("the square of the sum of a and {k}, minus {m}", "(a + {k}) ** 2 - {m}"),
        _Rule("{m} times the distance between a and {k}", "{m} * abs(a - {k})"),
        _Rule("a divided by {k}, rounded down, plus {m}", "a // {k} + {m}"),
        _Rule("{m} times the remainder of a divided by {k}, which is not negative", "{m} * (a % {k})"),
        _Rule("a, or -{k} if that is larger, or {m} if a is larger than {m}", "max(-{k}, min(a, {m}))"),
        _Rule("whether a is divisible by {k} or by {m}", "a % {k} == 0 or a % {m} == 0"),
        _Rule("whether a is divisible by {k} but not by {m}", "a % {k} == 0 and a % {m} != 0"),
        _Rule("a plus {k} if a is even, and otherwise a times {m}", "a + {k} if a % 2 == 0 else a * {m}"),
        _Rule("{k} times the last digit of a, plus {m}", "{k} * (abs(a) % 10) + {m}"),
        _Rule("the product of a plus {k} and a minus {m}", "(a + {k}) * (a - {m})"),
    ],
    "numbers": [
        _Rule("{k} times a, plus {m} times b", "{k} * a + {m} * b"),
        _Rule("{k} times a, minus {m} times b", "{k} * a - {m} * b"),
        _Rule("{k} times the product of a and b, plus {m}", "{k} * a * b + {m}"),
        _Rule("the product of a plus {k} and b minus {m}", "(a + {k}) * (b - {m})"),
        _Rule("{k} times the larger of a and b, minus {m}", "{k} * max(a, b) - {m}"),
        _Rule("{k} times the smaller of a and b, plus {m}", "{k} * min(a, b) + {m}"),
        _Rule("{k} times the distance between a and b, plus {m}", "{k} * abs(a - b) + {m}"),
        _Rule("{m} plus the remainder of the sum of a and b divided by {k}, which is not negative",
              "(a + b) % {k} + {m}"),
        _Rule("a plus {k} if b is divisible by {m}, and otherwise b", "a + {k} if b % {m} == 0 else b"),
        _Rule("whether {k} times a is less than {m} times b", "{k} * a < {m} * b"),
        _Rule("a divided by {k}, rounded down, plus b divided by {m}, rounded down", "a // {k} + b // {m}"),
    ],
    "items": [
        _Rule("the sum of the items of xs that are greater than {k}, plus {m}", "sum(x for x in xs if x > {k}) + {m}"),
        _Rule("{k} times the sum of xs, minus {m} times the number of its items", "{k} * sum(xs) - {m} * len(xs)"),
        _Rule("how many items of xs are from -{k} to {m}", "sum(-{k} <= x <= {m} for x in xs)"),
        _Rule("how many items of xs are divisible by {k} or by {m}", "sum(x % {k} == 0 or x % {m} == 0 for x in xs)"),
        _Rule("the items of xs, each multiplied by {k} and then increased by {m}", "[{k} * x + {m} for x in xs]"),
        _Rule("the items of xs that are divisible by {k}, each plus {m}", "[x + {m} for x in xs if x % {k} == 0]"),
        _Rule("the items of xs that are greater than {k} or less than -{m}", "[x for x in xs if x > {k} or x < -{m}]"),
        _Rule("the first {k} items of xs, or all if there are fewer, each times {m}", "[{m} * x for x in xs[:{k}]]"),
        _Rule("the items of xs after the first {k}, each minus {m}", "[x - {m} for x in xs[{k}:]]"),
        _Rule("the items of xs, with {m} in the place of each that is less than {k}",
              "[{m} if x < {k} else x for x in xs]"),
        _Rule("{k} times the largest item of xs, or {m} if xs is empty", "{k} * max(xs) if xs else {m}"),
        _Rule("the smallest item of xs minus {k}, or {m} if xs is empty", "min(xs) - {k} if xs else {m}"),
        _Rule("the {k} smallest items of xs in order, or all if there are fewer, each plus {m}",
              "[x + {m} for x in sorted(xs)[:{k}]]"),
    ],
    "letters": [
        _Rule("{k} times the number of characters of s, plus {m}", "{k} * len(s) + {m}"),
        _Rule("{k} times the number of letters {c} in s, plus {m}", '{k} * s.count("{c}") + {m}'),
        _Rule("{k} times the number of letters in s that are {c} or {d}", '{k} * (s.count("{c}") + s.count("{d}"))'),
        _Rule("the characters of s after the first {k}, {m} times in a row", "{m} * s[{k}:]"),
        _Rule("the first {k} characters of s, or all if there are fewer, {m} times in a row", "{m} * s[:{k}]"),
        _Rule("the first {k} characters of s, or all if there are fewer, and then {m} letters {c}",
              's[:{k}] + {m} * "{c}"'),
        _Rule("s in capital letters, with {k} dashes before it and {m} behind it", '{k} * "-" + s.upper() + {m} * "-"'),
        _Rule("s in small letters, {k} times in a row, and then the letter {c}", '{k} * s.lower() + "{c}"'),
        _Rule("s with {d} in the place of every {c}, without the first {k} characters",
              's.replace("{c}", "{d}")[{k}:]'),
        _Rule("s backwards, with {d} in the place of every {c}, {k} times in a row",
              '{k} * s[::-1].replace("{c}", "{d}")'),
        _Rule("whether s has from {k} to {m} characters", "{k} <= len(s) <= {m}"),
        _Rule("{m} times the number of words of s, which are separated by spaces, minus {k}",
              "{m} * len(s.split()) - {k}"),
    ],
}  # fmt: skip
_ARGUMENTS: dict[str, dict[str, Type]] = {
    "number": {"a": "int"},
    "numbers": {"a": "int", "b": "int"},
    "items": {"xs": "ints"},
    "letters": {"s": "text"},
}


def _drawn(rng: random.Random, kind: str) -> Draft:
    rule = rng.choice(_RULES[kind])
    # Lists and texts of the tests are short.
    most = 20 if kind in ("number", "numbers") else 9
    (k, m), (c, d) = rng.sample(range(2, most + 1), 2), rng.sample("abelo", 2)
    facts = {"k": k, "m": m, "c": c, "d": d}
    arguments = _ARGUMENTS[kind]
    return Draft(
        words=f"It returns {rule.words.format(**facts)}.",
        arguments=arguments,
        body=[f"return {rule.expression.format(**facts)}"],
        inputs=inputs_for(rng, list(arguments.values())),
        facts={"rule": rule.words, **facts},
    )


def number(rng: random.Random) -> Draft:
    """One expression of a number."""
    return _drawn(rng, "number")


def numbers(rng: random.Random) -> Draft:
    """One expression of two numbers."""
    return _drawn(rng, "numbers")


def items(rng: random.Random) -> Draft:
    """One expression of a list."""
    return _drawn(rng, "items")


def letters(rng: random.Random) -> Draft:
    """One expression of a text."""
    return _drawn(rng, "letters")


KINDS: tuple[Kind, ...] = (number, numbers, items, letters)
