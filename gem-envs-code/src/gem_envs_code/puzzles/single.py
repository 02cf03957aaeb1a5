"""The easy puzzles: one expression of a number or two, a list, or a text."""

import random
from typing import NamedTuple

from gem_envs_code.puzzles.draft import Draft, Kind, Type, inputs_for


class _Rule(NamedTuple):
    words: str
    """The result in words; `{k}` and `{m}` are numbers from 2 to 9, `{c}` and `{d}` two letters."""
    expression: str
    """The same in Python."""


_RULES: dict[str, list[_Rule]] = {
    "number": [
        _Rule("a plus {k}", "a + {k}"),
        _Rule("a minus {k}", "a - {k}"),
        _Rule("{k} times a", "{k} * a"),
        _Rule("{k} times a, plus {m}", "{k} * a + {m}"),
        _Rule("{k} times a, minus {m}", "{k} * a - {m}"),
        _Rule("the square of a, plus {k}", "a * a + {k}"),
        _Rule("the absolute value of a, times {k}", "{k} * abs(a)"),
        _Rule("a divided by {k}, rounded down", "a // {k}"),
        _Rule("the remainder of a divided by {k}, which is from 0 to {k} - 1", "a % {k}"),
        _Rule("the smaller of a and {k}", "min(a, {k})"),
        _Rule("the larger of a and {k}", "max(a, {k})"),
        _Rule("the distance between a and {k}", "abs(a - {k})"),
        _Rule("whether a is divisible by {k}", "a % {k} == 0"),
        _Rule("how many digits a has, without its sign", "len(str(abs(a)))"),
    ],
    "numbers": [
        _Rule("a plus b", "a + b"),
        _Rule("a minus b", "a - b"),
        _Rule("a times b", "a * b"),
        _Rule("{k} times a, plus b", "{k} * a + b"),
        _Rule("a minus {k} times b", "a - {k} * b"),
        _Rule("{k} times a, plus {m} times b", "{k} * a + {m} * b"),
        _Rule("the product of a and b, plus {k}", "a * b + {k}"),
        _Rule("the larger of a and b", "max(a, b)"),
        _Rule("the smaller of a and b", "min(a, b)"),
        _Rule("the larger of a and b, times {k}", "{k} * max(a, b)"),
        _Rule("the distance between a and b", "abs(a - b)"),
        _Rule("whether a is less than b", "a < b"),
        _Rule("a if b is even, and otherwise {k}", "a if b % 2 == 0 else {k}"),
    ],
    "items": [
        _Rule("the sum of xs", "sum(xs)"),
        _Rule("the sum of xs, plus {k}", "sum(xs) + {k}"),
        _Rule("how many items xs has", "len(xs)"),
        _Rule("how many items of xs are equal to {k}", "xs.count({k})"),
        _Rule("how many different items xs has", "len(set(xs))"),
        _Rule("the largest item of xs, or {k} if it is empty", "max(xs, default={k})"),
        _Rule("the smallest item of xs, or {k} if it is empty", "min(xs, default={k})"),
        _Rule("the items of xs in reverse order", "xs[::-1]"),
        _Rule("the items of xs from smallest to largest", "sorted(xs)"),
        _Rule("the first {k} items of xs, or all if there are fewer", "xs[:{k}]"),
        _Rule("the items of xs after the first {k}", "xs[{k}:]"),
        _Rule("the items of xs, each times {k}", "[{k} * x for x in xs]"),
        _Rule("the items of xs, each plus {k}", "[x + {k} for x in xs]"),
        _Rule("the items of xs that are greater than {k}", "[x for x in xs if x > {k}]"),
        _Rule("the items of xs that are divisible by {k}", "[x for x in xs if x % {k} == 0]"),
        _Rule("whether {k} is in xs", "{k} in xs"),
    ],
    "letters": [
        _Rule("s in capital letters", "s.upper()"),
        _Rule("s in small letters", "s.lower()"),
        _Rule("s backwards", "s[::-1]"),
        _Rule("s, {k} times in a row", "{k} * s"),
        _Rule("how many characters s has", "len(s)"),
        _Rule("how often the letter {c} occurs in s", 's.count("{c}")'),
        _Rule("the first {k} characters of s, or all if there are fewer", "s[:{k}]"),
        _Rule("the characters of s after the first {k}", "s[{k}:]"),
        _Rule("s with {d} in the place of every {c}", 's.replace("{c}", "{d}")'),
        _Rule("s without the letter {c}", 's.replace("{c}", "")'),
        _Rule("whether s begins with {c}", 's.startswith("{c}")'),
        _Rule("how many words s has, which are separated by spaces", "len(s.split())"),
    ],
}
_ARGUMENTS: dict[str, dict[str, Type]] = {
    "number": {"a": "int"},
    "numbers": {"a": "int", "b": "int"},
    "items": {"xs": "ints"},
    "letters": {"s": "text"},
}


def _drawn(rng: random.Random, kind: str) -> Draft:
    rule = rng.choice(_RULES[kind])
    c, d = rng.sample("abelo", 2)
    facts = {"k": rng.randint(2, 9), "m": rng.randint(2, 9), "c": c, "d": d}
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
