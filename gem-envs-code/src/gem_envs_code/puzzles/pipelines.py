"""Puzzles of several steps, each of which changes a list or a text: a few steps, or many."""

import random
from dataclasses import replace
from typing import NamedTuple

from gem_envs_code.puzzles.draft import Draft, Kind, inputs_for


class _Step(NamedTuple):
    words: str
    """The step in words; `{k}` is a number from 2 to 5, `{c}` a letter."""
    code: str
    """The same in Python, on `xs` or `s`."""


LISTS = [
    _Step("Keep the even items.", "xs = [x for x in xs if x % 2 == 0]"),
    _Step("Keep the odd items.", "xs = [x for x in xs if x % 2]"),
    _Step("Keep the items greater than {k}.", "xs = [x for x in xs if x > {k}]"),
    _Step("Keep the items from -{k} to {k}.", "xs = [x for x in xs if -{k} <= x <= {k}]"),
    _Step("Remove the items that are divisible by {k}.", "xs = [x for x in xs if x % {k}]"),
    _Step("Remove the first {k} items, or all if there are fewer.", "xs = xs[{k}:]"),
    _Step("Remove the last {k} items, or all if there are fewer.", "xs = xs[:-{k}]"),
    _Step("Keep the first item of every {k}: items 1, 1 + {k}, 1 + 2 * {k} and so on.", "xs = xs[::{k}]"),
    _Step("Of items that occur more than once, keep the first occurrence.", "xs = list(dict.fromkeys(xs))"),
    _Step("Remove every item that is equal to the item before it.",
          "xs = [x for i, x in enumerate(xs) if i == 0 or x != xs[i - 1]]"),
    _Step("Replace every item by its square.", "xs = [x * x for x in xs]"),
    _Step("Replace every item by its absolute value.", "xs = [abs(x) for x in xs]"),
    _Step("Multiply every item by {k}.", "xs = [x * {k} for x in xs]"),
    _Step("Add {k} to every item.", "xs = [x + {k} for x in xs]"),
    _Step("Change the sign of every item at an even position, where the first item is at position 1.",
          "xs = [-x if i % 2 else x for i, x in enumerate(xs)]"),
    _Step("Add to every item its position, where the first item is at position 0.",
          "xs = [x + i for i, x in enumerate(xs)]"),
    _Step("Replace every item by its remainder when divided by {k}, from 0 to {k} - 1.", "xs = [x % {k} for x in xs]"),
    _Step("Sort the items from smallest to largest.", "xs = sorted(xs)"),
    _Step("Sort the items from largest to smallest.", "xs = sorted(xs, reverse=True)"),
    _Step("Sort the items by absolute value; of two with the same one, the negative comes first.",
          "xs = sorted(xs, key=lambda x: (abs(x), x))"),
    _Step("Reverse the list.", "xs = xs[::-1]"),
    _Step("Move the first item to the end, {k} times.", "xs = xs[{k} % len(xs):] + xs[:{k} % len(xs)] if xs else []"),
    _Step("Replace every item by the sum of the items from the first to it.",
          "xs = [sum(xs[: i + 1]) for i in range(len(xs))]"),
    _Step("Replace every item by the largest of the items from the first to it.",
          "xs = [max(xs[: i + 1]) for i in range(len(xs))]"),
    _Step("Replace the list by the differences of neighbours: the second item minus the first, and so on.",
          "xs = [b - a for a, b in zip(xs, xs[1:])]"),
    _Step("Replace the list by the sums of every {k} items in a row, from each item that has enough behind it.",
          "xs = [sum(xs[i : i + {k}]) for i in range(len(xs) - {k} + 1)]"),
    _Step("Put a copy of the list behind it.", "xs = xs + xs"),
    _Step("Swap the items of each pair: the first with the second, the third with the fourth, and so on. An item "
          "without a partner stays.", "xs = [x for i in range(0, len(xs), 2) for x in xs[i : i + 2][::-1]]"),
]  # fmt: skip
LIST_ENDS = [
    _Step("Return the list.", "return xs"),
    _Step("Return the sum of the items.", "return sum(xs)"),
    _Step("Return the largest item, or 0 if there is none.", "return max(xs, default=0)"),
    _Step("Return the smallest item, or 0 if there is none.", "return min(xs, default=0)"),
    _Step("Return the number of items.", "return len(xs)"),
    _Step("Return the number of different items.", "return len(set(xs))"),
    _Step("Return the first item minus the second plus the third and so on, with signs that alternate.",
          "return sum(-x if i % 2 else x for i, x in enumerate(xs))"),
    _Step("Return the item that occurs most often, the smallest of them if there are several, or 0 if there is none.",
          "return min(xs, key=lambda x: (-xs.count(x), x), default=0)"),
    _Step("Return the position of the first largest item, where the first item is at position 0; or -1 for none.",
          "return xs.index(max(xs)) if xs else -1"),
    _Step("Return the number of pairs of neighbours of which the second is greater than the first.",
          "return sum(a < b for a, b in zip(xs, xs[1:]))"),
]  # fmt: skip
TEXTS = [
    _Step("Change small letters to capital ones, and capital ones to small ones.", "s = s.swapcase()"),
    _Step("Change all letters to small ones.", "s = s.lower()"),
    _Step("Reverse the text.", "s = s[::-1]"),
    _Step("Reverse each word in its place.", 's = " ".join(w[::-1] for w in s.split(" "))'),
    _Step("Reverse the order of the words.", 's = " ".join(s.split(" ")[::-1])'),
    _Step("Sort the words as Python sorts texts.", 's = " ".join(sorted(s.split(" ")))'),
    _Step("Remove the letters a, e, i, o and u, small and capital.",
          's = "".join(c for c in s if c not in "aeiouAEIOU")'),
    _Step("Remove every letter {c}, small and capital.", 's = "".join(c for c in s if c.lower() != "{c}")'),
    _Step("Remove all digits.", 's = "".join(c for c in s if c not in "0123456789")'),
    _Step("Remove every character that is equal to the character before it.",
          's = "".join(c for i, c in enumerate(s) if i == 0 or c != s[i - 1])'),
    _Step("Keep the first occurrence of every character.", 's = "".join(dict.fromkeys(s))'),
    _Step("Write every character {k} times in a row.", 's = "".join(c * {k} for c in s)'),
    _Step("Keep the first character of every {k}: characters 1, 1 + {k}, 1 + 2 * {k} and so on.", "s = s[::{k}]"),
    _Step("Remove the first {k} characters, or all if there are fewer.", "s = s[{k}:]"),
    _Step("Move the first character to the end, {k} times.", 's = s[{k} % len(s):] + s[:{k} % len(s)] if s else ""'),
    _Step("Replace each small letter by the one {k} places on in the alphabet, where a follows z.",
          's = "".join(chr((ord(c) - 97 + {k}) % 26 + 97) if "a" <= c <= "z" else c for c in s)'),
    _Step("Put the text behind itself, backwards.", "s = s + s[::-1]"),
    _Step("Put a dash between every two characters.", 's = "-".join(s)'),
    _Step("Replace each run of the same character by the character and the length of the run: aab becomes a2b1.",
          's = "".join(c + str(len(list(run))) for c, run in itertools.groupby(s))'),
]  # fmt: skip
TEXT_ENDS = [
    _Step("Return the text.", "return s"),
    _Step("Return the number of characters.", "return len(s)"),
    _Step("Return the number of different characters.", "return len(set(s))"),
    _Step("Return how often the letter {c} occurs, small or capital.", 'return s.lower().count("{c}")'),
    _Step("Return the character that occurs most often, the first of them if there are several, or an empty text.",
          'return max(s, key=s.count, default="")'),
    _Step("Return the number of positions at which the text and the text backwards have the same character.",
          "return sum(a == b for a, b in zip(s, s[::-1]))"),
    _Step("Return the length of the longest run of the same character, or 0.",
          "return max((len(list(run)) for _, run in itertools.groupby(s)), default=0)"),
]  # fmt: skip


def _drawn(rng: random.Random, name: str, steps: list[_Step], ends: list[_Step], count: int) -> Draft:
    """Steps of which each matters: without it some results are others."""
    while True:
        draft = _attempt(rng, name, steps, ends, count)
        shorter = (replace(draft, body=[*draft.body[:at], *draft.body[at + 1 :]]) for at in range(count))
        results = draft.results()
        if all(each.results() != results for each in shorter):
            return draft


def _attempt(rng: random.Random, name: str, steps: list[_Step], ends: list[_Step], count: int) -> Draft:
    chosen = [*rng.sample(steps, count), rng.choice(ends)]
    filled = [(step, {"k": rng.randint(2, 5), "c": rng.choice("abelo")}) for step in chosen]
    lines = [step.words.format(**facts) for step, facts in filled]
    body = [step.code.format(**facts) for step, facts in filled]
    return Draft(
        words="\n".join([_intro(name, lines), *(f"{number}. {words}" for number, words in enumerate(lines, start=1))]),
        arguments={name: "ints" if name == "xs" else "text"},
        body=body,
        inputs=inputs_for(rng, ["ints" if name == "xs" else "text"], 16),
        facts={"steps": [(step.words, facts) for step, facts in filled]},
        imports=["import itertools"] if any("itertools" in each for each in body) else [],
    )


def _intro(name: str, lines: list[str]) -> str:
    if name == "s" and any("word" in each for each in lines):
        return "It does this, where a word is what stands between two spaces, or a space and an end; it may be empty:"
    return "It does this:"


def list_steps(rng: random.Random) -> Draft:
    """Two or three steps on a list."""
    return _drawn(rng, "xs", LISTS, LIST_ENDS, rng.randint(2, 3))


def text_steps(rng: random.Random) -> Draft:
    """Two or three steps on a text."""
    return _drawn(rng, "s", TEXTS, TEXT_ENDS, rng.randint(2, 3))


def many_list_steps(rng: random.Random) -> Draft:
    """Many steps on a list."""
    return _drawn(rng, "xs", LISTS, LIST_ENDS, rng.randint(5, 8))


def many_text_steps(rng: random.Random) -> Draft:
    """Many steps on a text."""
    return _drawn(rng, "s", TEXTS, TEXT_ENDS, rng.randint(5, 8))


KINDS: tuple[Kind, ...] = (list_steps, text_steps)
LONG_KINDS: tuple[Kind, ...] = (many_list_steps, many_text_steps)
