"""Second implementations of the puzzles, from their words and not from their solutions; slow where that is simpler."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

Facts = Mapping[str, Any]


def _first(xs: Any, k: int) -> Any:
    return type(xs)(xs) if len(xs) < k else xs[0:k] if k else xs[:0]


def _rest(xs: Any, k: int) -> Any:
    return xs[len(_first(xs, k)) :]


def _backwards(xs: Any) -> Any:
    out = list(reversed(xs))
    return "".join(out) if isinstance(xs, str) else out


SINGLE: dict[str, Callable[..., Any]] = {
    # of a number
    "{k} times a, plus {m}": lambda a, k, m, **_: m + math.prod((k, a)),
    "{k} times a, minus {m}": lambda a, k, m, **_: math.prod((k, a)) - m,
    "the square of the sum of a and {k}, minus {m}": lambda a, k, m, **_: a * a + 2 * a * k + k * k - m,
    "{m} times the distance between a and {k}": lambda a, k, m, **_: m * (a - k if a > k else k - a),
    "a divided by {k}, rounded down, plus {m}": lambda a, k, m, **_: m + math.floor(a / k),
    "{m} times the remainder of a divided by {k}, which is not negative": lambda a, k, m, **_: (
        m * next(r for r in range(k) if (a - r) / k == (a - r) // k)
    ),
    "a, or -{k} if that is larger, or {m} if a is larger than {m}": lambda a, k, m, **_: sorted((-k, a, m))[1],
    "whether a is divisible by {k} or by {m}": lambda a, k, m, **_: any((a / n).is_integer() for n in (k, m)),
    "whether a is divisible by {k} but not by {m}": lambda a, k, m, **_: (
        [(a / n).is_integer() for n in (k, m)] == [True, False]
    ),
    "a plus {k} if a is even, and otherwise a times {m}": lambda a, k, m, **_: (
        sum([a] * m) if str(a)[-1] in "13579" else sum((a, k))
    ),
    "{k} times the last digit of a, plus {m}": lambda a, k, m, **_: k * int(str(a)[-1]) + m,
    "the product of a plus {k} and a minus {m}": lambda a, k, m, **_: a * a + (k - m) * a - k * m,
    # of two numbers
    "{k} times a, plus {m} times b": lambda a, b, k, m, **_: sum(math.prod(pair) for pair in ((k, a), (m, b))),
    "{k} times a, minus {m} times b": lambda a, b, k, m, **_: -(math.prod((m, b)) - math.prod((k, a))),
    "{k} times the product of a and b, plus {m}": lambda a, b, k, m, **_: m + math.prod((a, b, k)),
    "the product of a plus {k} and b minus {m}": lambda a, b, k, m, **_: a * b - a * m + k * b - k * m,
    "{k} times the larger of a and b, minus {m}": lambda a, b, k, m, **_: k * sorted((a, b))[1] - m,
    "{k} times the smaller of a and b, plus {m}": lambda a, b, k, m, **_: k * sorted((a, b))[0] + m,
    "{k} times the distance between a and b, plus {m}": lambda a, b, k, m, **_: m + k * (a - b if a > b else b - a),
    "{m} plus the remainder of the sum of a and b divided by {k}, which is not negative": lambda a, b, k, m, **_: (
        m + next(r for r in range(k) if (a + b - r) / k == (a + b - r) // k)
    ),
    "a plus {k} if b is divisible by {m}, and otherwise b": lambda a, b, k, m, **_: (
        sum((a, k)) if (b / m).is_integer() else b
    ),
    "whether {k} times a is less than {m} times b": lambda a, b, k, m, **_: math.prod((m, b)) - math.prod((k, a)) > 0,
    "a divided by {k}, rounded down, plus b divided by {m}, rounded down": lambda a, b, k, m, **_: sum(
        math.floor(x / n) for x, n in ((a, k), (b, m))
    ),
    # of a list
    "the sum of the items of xs that are greater than {k}, plus {m}": lambda xs, k, m, **_: math.fsum(
        [m, *filter(lambda x: x - k > 0, xs)]
    ),
    "{k} times the sum of xs, minus {m} times the number of its items": lambda xs, k, m, **_: math.fsum(
        k * x - m for x in xs
    ),
    "how many items of xs are from -{k} to {m}": lambda xs, k, m, **_: sum(Counter(xs)[x] for x in range(-k, m + 1)),
    "how many items of xs are divisible by {k} or by {m}": lambda xs, k, m, **_: len(
        [x for x in xs if (x / k).is_integer() or (x / m).is_integer()]
    ),
    "the items of xs, each multiplied by {k} and then increased by {m}": lambda xs, k, m, **_: [
        sum([x] * k, m) for x in xs
    ],
    "the items of xs that are divisible by {k}, each plus {m}": lambda xs, k, m, **_: [
        sum((x, m)) for x in xs if (x / k).is_integer()
    ],
    "the items of xs that are greater than {k} or less than -{m}": lambda xs, k, m, **_: list(
        filter(lambda x: x not in range(-m, k + 1), xs)
    ),
    "the first {k} items of xs, or all if there are fewer, each times {m}": lambda xs, k, m, **_: [
        sum([x] * m) for x in _first(xs, k)
    ],
    "the items of xs after the first {k}, each minus {m}": lambda xs, k, m, **_: [-(m - x) for x in _rest(xs, k)],
    "the items of xs, with {m} in the place of each that is less than {k}": lambda xs, k, m, **_: [
        x if x >= k else m for x in xs
    ],
    "{k} times the largest item of xs, or {m} if xs is empty": lambda xs, k, m, **_: k * _sorted(xs)[-1] if xs else m,
    "the smallest item of xs minus {k}, or {m} if xs is empty": lambda xs, k, m, **_: _sorted(xs)[0] - k if xs else m,
    "the {k} smallest items of xs in order, or all if there are fewer, each plus {m}": lambda xs, k, m, **_: [
        sum((x, m)) for x in _first(_sorted(xs), k)
    ],
    # of a text
    "{k} times the number of characters of s, plus {m}": lambda s, k, m, **_: m + sum(k for _ in s),
    "{k} times the number of letters {c} in s, plus {m}": lambda s, k, m, c, **_: m + k * Counter(s)[c],
    "{k} times the number of letters in s that are {c} or {d}": lambda s, k, c, d, **_: sum(
        k for each in s if each in (c, d)
    ),
    "the characters of s after the first {k}, {m} times in a row": lambda s, k, m, **_: "".join([_rest(s, k)] * m),
    "the first {k} characters of s, or all if there are fewer, {m} times in a row": lambda s, k, m, **_: "".join(
        [_first(s, k)] * m
    ),
    "the first {k} characters of s, or all if there are fewer, and then {m} letters {c}": lambda s, k, m, c, **_: (
        "".join([_first(s, k), *[c] * m])
    ),
    "s in capital letters, with {k} dashes before it and {m} behind it": lambda s, k, m, **_: "".join(
        ["-" * k, *(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in s), "-" * m]
    ),
    "s in small letters, {k} times in a row, and then the letter {c}": lambda s, k, c, **_: "".join(
        [*[chr(ord(each) + 32) if "A" <= each <= "Z" else each for each in s] * k, c]
    ),
    "s with {d} in the place of every {c}, without the first {k} characters": lambda s, k, c, d, **_: d.join(
        _rest(s, k).split(c)
    ),
    "s backwards, with {d} in the place of every {c}, {k} times in a row": lambda s, k, c, d, **_: "".join(
        [d.join(_backwards(s).split(c))] * k
    ),
    "whether s has from {k} to {m} characters": lambda s, k, m, **_: len(s) in range(k, m + 1),
    "{m} times the number of words of s, which are separated by spaces, minus {k}": lambda s, k, m, **_: (
        m * len([w for w in s.split(" ") if w]) - k
    ),
}


def _sorted(xs: list[int]) -> list[int]:
    left, out = list(xs), []
    while left:
        smallest = min(left)
        left.remove(smallest)
        out.append(smallest)
    return out


def _running(xs: list[int], combine: Callable[[int, int], int]) -> list[int]:
    return list(itertools.accumulate(xs, combine))


def _rotated(xs: Any, k: int) -> Any:
    for _ in range(k):
        xs = xs[1:] + xs[:1]
    return xs


def _kept_once(xs: Any) -> list[Any]:
    out: list[Any] = []
    for x in xs:
        if x not in out:
            out.append(x)
    return out


def _no_repeats(xs: Any) -> list[Any]:
    return [key for key, _ in itertools.groupby(xs)]


def _swapped(xs: list[int]) -> list[int]:
    out = list(xs)
    for at in range(1, len(out), 2):
        out[at - 1], out[at] = out[at], out[at - 1]
    return out


def _words(s: str, change: Callable[[list[str]], list[str]]) -> str:
    words, word = [], ""
    for c in s:
        if c == " ":
            words.append(word)
            word = ""
        else:
            word += c
    return " ".join(change([*words, word]))


def _alternating(xs: list[int]) -> int:
    total = 0
    for x in reversed(xs):
        total = x - total
    return total


def _most_common(xs: Any, ties: Callable[[Any], Any], none: Any) -> Any:
    if not xs:
        return none
    count = Counter(xs)
    return min((x for x in xs if count[x] == max(count.values())), key=ties)


def _shifted(c: str, k: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[(alphabet.index(c) + k) % 26] if c in alphabet and c else c


STEPS: dict[str, Callable[..., Any]] = {
    "Keep the even items.": lambda xs, **_: [x for x in xs if str(x)[-1] in "02468"],
    "Keep the odd items.": lambda xs, **_: [x for x in xs if str(x)[-1] in "13579"],
    "Keep the items greater than {k}.": lambda xs, k, **_: [x for x in xs if not x <= k],
    "Keep the items from -{k} to {k}.": lambda xs, k, **_: [x for x in xs if abs(x) <= k],
    "Remove the items that are divisible by {k}.": lambda xs, k, **_: [x for x in xs if math.gcd(x, k) != k],
    "Remove the first {k} items, or all if there are fewer.": lambda xs, k, **_: _rest(xs, k),
    "Remove the last {k} items, or all if there are fewer.": lambda xs, k, **_: _first(xs, max(0, len(xs) - k)),
    "Keep the first item of every {k}: items 1, 1 + {k}, 1 + 2 * {k} and so on.": lambda xs, k, **_: [
        xs[at] for at in range(0, len(xs), k)
    ],
    "Of items that occur more than once, keep the first occurrence.": lambda xs, **_: _kept_once(xs),
    "Remove every item that is equal to the item before it.": lambda xs, **_: _no_repeats(xs),
    "Replace every item by its square.": lambda xs, **_: [abs(x) ** 2 for x in xs],
    "Replace every item by its absolute value.": lambda xs, **_: [max(x, -x) for x in xs],
    "Multiply every item by {k}.": lambda xs, k, **_: [sum([x] * k) for x in xs],
    "Add {k} to every item.": lambda xs, k, **_: [sum((x, k)) for x in xs],
    "Change the sign of every item at an even position, where the first item is at position 1.": lambda xs, **_: [
        x * (-1) ** at for at, x in enumerate(xs)
    ],
    "Add to every item its position, where the first item is at position 0.": lambda xs, **_: list(
        map(sum, zip(xs, range(len(xs)), strict=True))
    ),
    "Replace every item by its remainder when divided by {k}, from 0 to {k} - 1.": lambda xs, k, **_: [
        x - k * math.floor(x / k) for x in xs
    ],
    "Sort the items from smallest to largest.": lambda xs, **_: _sorted(xs),
    "Sort the items from largest to smallest.": lambda xs, **_: _sorted(xs)[::-1],
    "Sort the items by absolute value; of two with the same one, the negative comes first.": lambda xs, **_: sorted(
        _sorted(xs), key=abs
    ),
    "Reverse the list.": lambda xs, **_: _backwards(xs),
    "Move the first item to the end, {k} times.": lambda xs, k, **_: _rotated(xs, k),
    "Replace every item by the sum of the items from the first to it.": lambda xs, **_: _running(
        xs, lambda a, b: a + b
    ),
    "Replace every item by the largest of the items from the first to it.": lambda xs, **_: _running(xs, max),
    "Replace the list by the differences of neighbours: the second item minus the first, and so on.": (
        lambda xs, **_: [xs[at] - xs[at - 1] for at in range(1, len(xs))]
    ),
    "Replace the list by the sums of every {k} items in a row, from each item that has enough behind it.": (
        lambda xs, k, **_: (
            [s for s in (xs[at : at + k] for at in range(len(xs))) if len(s) == k]
            and [sum(s) for s in (xs[at : at + k] for at in range(len(xs))) if len(s) == k]
        )
    ),
    "Put a copy of the list behind it.": lambda xs, **_: [*xs, *xs],
    "Swap the items of each pair: the first with the second, the third with the fourth, and so on. An item without a "
    "partner stays.": lambda xs, **_: _swapped(xs),
    "Return the list.": lambda xs, **_: xs,
    "Return the sum of the items.": lambda xs, **_: int(math.fsum(xs)),
    "Return the largest item, or 0 if there is none.": lambda xs, **_: _sorted(xs)[-1] if xs else 0,
    "Return the smallest item, or 0 if there is none.": lambda xs, **_: _sorted(xs)[0] if xs else 0,
    "Return the number of items.": lambda xs, **_: sum(1 for _ in xs),
    "Return the number of different items.": lambda xs, **_: len(_kept_once(xs)),
    "Return the first item minus the second plus the third and so on, with signs that alternate.": (
        lambda xs, **_: _alternating(xs)
    ),
    "Return the item that occurs most often, the smallest of them if there are several, or 0 if there is none.": (
        lambda xs, **_: _most_common(xs, lambda x: x, 0)
    ),
    "Return the position of the first largest item, where the first item is at position 0; or -1 for none.": (
        lambda xs, **_: next((at for at, x in enumerate(xs) if x == max(xs)), -1)
    ),
    "Return the number of pairs of neighbours of which the second is greater than the first.": lambda xs, **_: len(
        [1 for at in range(1, len(xs)) if xs[at] - xs[at - 1] > 0]
    ),
    # of texts
    "Change small letters to capital ones, and capital ones to small ones.": lambda s, **_: "".join(
        c.upper() if c.islower() else c.lower() for c in s
    ),
    "Change all letters to small ones.": lambda s, **_: "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in s),
    "Reverse the text.": lambda s, **_: _backwards(s),
    "Reverse each word in its place.": lambda s, **_: _words(s, lambda words: [_backwards(w) for w in words]),
    "Reverse the order of the words.": lambda s, **_: _words(s, lambda words: list(reversed(words))),
    "Sort the words as Python sorts texts.": lambda s, **_: _words(s, sorted),
    "Remove the letters a, e, i, o and u, small and capital.": lambda s, **_: "".join(
        c for c in s if c.lower() not in set("aeiou")
    ),
    "Remove every letter {c}, small and capital.": lambda s, c, **_: s.replace(c, "").replace(c.upper(), ""),
    "Remove all digits.": lambda s, **_: "".join(c for c in s if not c.isdigit()),
    "Remove every character that is equal to the character before it.": lambda s, **_: "".join(_no_repeats(s)),
    "Keep the first occurrence of every character.": lambda s, **_: "".join(_kept_once(s)),
    "Write every character {k} times in a row.": lambda s, k, **_: "".join(c for c in s for _ in range(k)),
    "Keep the first character of every {k}: characters 1, 1 + {k}, 1 + 2 * {k} and so on.": lambda s, k, **_: "".join(
        c for at, c in enumerate(s) if at % k == 0
    ),
    "Remove the first {k} characters, or all if there are fewer.": lambda s, k, **_: _rest(s, k),
    "Move the first character to the end, {k} times.": lambda s, k, **_: _rotated(s, k),
    "Replace each small letter by the one {k} places on in the alphabet, where a follows z.": lambda s, k, **_: "".join(
        _shifted(c, k) for c in s
    ),
    "Put the text behind itself, backwards.": lambda s, **_: "".join((s, _backwards(s))),
    "Put a dash between every two characters.": lambda s, **_: "".join(f"-{c}" for c in s)[1:],
    "Replace each run of the same character by the character and the length of the run: aab becomes a2b1.": (
        lambda s, **_: "".join(f"{run[0]}{len(run)}" for run in _runs(s))
    ),
    "Return the text.": lambda s, **_: s,
    "Return the number of characters.": lambda s, **_: sum(1 for _ in s),
    "Return the number of different characters.": lambda s, **_: len(_kept_once(s)),
    "Return how often the letter {c} occurs, small or capital.": lambda s, c, **_: sum(x in (c, c.upper()) for x in s),
    "Return the character that occurs most often, the first of them if there are several, or an empty text.": (
        lambda s, **_: _most_common(s, s.index, "")
    ),
    "Return the number of positions at which the text and the text backwards have the same character.": (
        lambda s, **_: sum(s[at] == s[-1 - at] for at in range(len(s)))
    ),
    "Return the length of the longest run of the same character, or 0.": lambda s, **_: max(
        map(len, _runs(s)), default=0
    ),
}


def _runs(s: str) -> list[str]:
    runs: list[str] = []
    for c in s:
        if runs and runs[-1][0] == c:
            runs[-1] += c
        else:
            runs.append(c)
    return runs


def single(facts: Facts, given: tuple[Any, ...]) -> Any:
    rest = {name: value for name, value in facts.items() if name != "rule"}
    return SINGLE[facts["rule"]](*given, **rest)


def pipeline(facts: Facts, given: tuple[Any, ...]) -> Any:
    (value,) = given
    for words, own in facts["steps"]:
        value = STEPS[words](value, **own)
    return value
