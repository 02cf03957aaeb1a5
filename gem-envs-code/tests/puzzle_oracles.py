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
    "a plus {k}": lambda a, k, **_: sum((a, k)),
    "a minus {k}": lambda a, k, **_: -(k - a),
    "{k} times a": lambda a, k, **_: sum(a for _ in range(k)),
    "{k} times a, plus {m}": lambda a, k, m, **_: m + math.prod((k, a)),
    "{k} times a, minus {m}": lambda a, k, m, **_: math.prod((k, a)) - m,
    "the square of a, plus {k}": lambda a, k, **_: a**2 + k,
    "the absolute value of a, times {k}": lambda a, k, **_: (a if a > 0 else -a) * k,
    "a divided by {k}, rounded down": lambda a, k, **_: math.floor(a / k),
    "the remainder of a divided by {k}, which is from 0 to {k} - 1": lambda a, k, **_: next(
        r for r in range(k) if (a - r) / k == (a - r) // k
    ),
    "the smaller of a and {k}": lambda a, k, **_: sorted((a, k))[0],
    "the larger of a and {k}": lambda a, k, **_: sorted((a, k))[1],
    "the distance between a and {k}": lambda a, k, **_: a - k if a > k else k - a,
    "whether a is divisible by {k}": lambda a, k, **_: (a / k).is_integer(),
    "how many digits a has, without its sign": lambda a, **_: sum(each.isdigit() for each in str(a)),
    # of two numbers
    "a plus b": lambda a, b, **_: sum((a, b)),
    "a minus b": lambda a, b, **_: -(b - a),
    "a times b": lambda a, b, **_: math.prod((a, b)),
    "{k} times a, plus b": lambda a, b, k, **_: b + math.prod((k, a)),
    "a minus {k} times b": lambda a, b, k, **_: -(math.prod((k, b)) - a),
    "{k} times a, plus {m} times b": lambda a, b, k, m, **_: sum(math.prod(pair) for pair in ((k, a), (m, b))),
    "the product of a and b, plus {k}": lambda a, b, k, **_: k + math.prod((a, b)),
    "the larger of a and b": lambda a, b, **_: sorted((a, b))[1],
    "the smaller of a and b": lambda a, b, **_: sorted((a, b))[0],
    "the larger of a and b, times {k}": lambda a, b, k, **_: sorted((a, b))[1] * k,
    "the distance between a and b": lambda a, b, **_: a - b if a > b else b - a,
    "whether a is less than b": lambda a, b, **_: b - a > 0,
    "a if b is even, and otherwise {k}": lambda a, b, k, **_: k if str(b)[-1] in "13579" else a,
    # of a list
    "the sum of xs": lambda xs, **_: math.fsum(xs),
    "the sum of xs, plus {k}": lambda xs, k, **_: math.fsum([*xs, k]),
    "how many items xs has": lambda xs, **_: sum(1 for _ in xs),
    "how many items of xs are equal to {k}": lambda xs, k, **_: Counter(xs)[k],
    "how many different items xs has": lambda xs, **_: len(Counter(xs)),
    "the largest item of xs, or {k} if it is empty": lambda xs, k, **_: sorted(xs)[-1] if xs else k,
    "the smallest item of xs, or {k} if it is empty": lambda xs, k, **_: sorted(xs)[0] if xs else k,
    "the items of xs in reverse order": lambda xs, **_: _backwards(xs),
    "the items of xs from smallest to largest": lambda xs, **_: list(Counter(xs).elements()) and _sorted(xs),
    "the first {k} items of xs, or all if there are fewer": lambda xs, k, **_: _first(xs, k),
    "the items of xs after the first {k}": lambda xs, k, **_: _rest(xs, k),
    "the items of xs, each times {k}": lambda xs, k, **_: [sum([x] * k) for x in xs],
    "the items of xs, each plus {k}": lambda xs, k, **_: [sum((x, k)) for x in xs],
    "the items of xs that are greater than {k}": lambda xs, k, **_: list(filter(lambda x: x - k > 0, xs)),
    "the items of xs that are divisible by {k}": lambda xs, k, **_: [x for x in xs if (x / k).is_integer()],
    "whether {k} is in xs": lambda xs, k, **_: any(x == k for x in xs),
    # of a text
    "s in capital letters": lambda s, **_: "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in s),
    "s in small letters": lambda s, **_: "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in s),
    "s backwards": lambda s, **_: _backwards(s),
    "s, {k} times in a row": lambda s, k, **_: "".join(s for _ in range(k)),
    "how many characters s has": lambda s, **_: sum(1 for _ in s),
    "how often the letter {c} occurs in s": lambda s, c, **_: Counter(s)[c],
    "the first {k} characters of s, or all if there are fewer": lambda s, k, **_: _first(s, k),
    "the characters of s after the first {k}": lambda s, k, **_: _rest(s, k),
    "s with {d} in the place of every {c}": lambda s, c, d, **_: d.join(s.split(c)),
    "s without the letter {c}": lambda s, c, **_: "".join(s.split(c)),
    "whether s begins with {c}": lambda s, c, **_: _first(s, 1) == c,
    "how many words s has, which are separated by spaces": lambda s, **_: len([w for w in s.split(" ") if w]),
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
    "Change all letters to small ones.": lambda s, **_: SINGLE["s in small letters"](s),
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
    "Keep every {k}th character, beginning with the first.": lambda s, k, **_: "".join(
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
