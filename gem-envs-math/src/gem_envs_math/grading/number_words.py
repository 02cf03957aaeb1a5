"""Numbers in words: `twenty-one`, `two thirds`, `three apples`."""

import re
from collections.abc import Sequence

from gem_envs_math.grading.tokens import Token

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_VALUES)})\b", re.IGNORECASE)
_NEGATIVE = ("minus", "negative")
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "halves": 2,
}  # fmt: skip


def with_numerals(found: list[Token]) -> list[Token]:
    """The tokens with numerals for the numbers in words."""
    tokens: list[Token] = []
    at = 0
    pieces = _pieces(found)
    while at < len(pieces):
        begins = not tokens or tokens[-1].value in (",", "and", "or", "=", ";", "-")
        read = _number(pieces, at) if begins else None
        is_negative = begins and pieces[at].value.casefold() in _NEGATIVE
        if is_negative and (read := _number(pieces, at + 1)) is not None:
            tokens.append(Token("sign", "-", pieces[at].spaced))
        if read is None:
            tokens.append(pieces[at])
            at += 1
        else:
            numeral, at = read
            tokens += numeral
    return tokens if tokens != pieces else found


def _pieces(found: Sequence[Token]) -> list[Token]:
    """The tokens, with a text of number words as a token for each word."""
    pieces: list[Token] = []
    for token in found:
        words = token.value.replace("-", " - ").split() if token.kind == "text" else []
        if words and (_value(words[0]) is not None or words[0].casefold() in _NEGATIVE):
            pieces += [Token("word" if word != "-" else "sign", word, True) for word in words]
        else:
            pieces.append(token)
    return pieces


def _value(word: str) -> int | None:
    return _VALUES.get(word.casefold())


def _number(pieces: Sequence[Token], start: int) -> tuple[list[Token], int] | None:
    """The numeral for the words at `start`, and where they end."""
    total, group, at = 0, 0, start
    last = 0
    while at < len(pieces):
        word = pieces[at].value.casefold()
        follows = at + 1 < len(pieces) and _value(pieces[at + 1].value) is not None
        if pieces[at].kind == "word" and (value := _VALUES.get(word)) is not None:
            if at > start and last and not (value < 10 and last % 100 >= 20) and not last >= 100:
                return None  # two three
            group, last = group + value, value or 1
        elif at > start and word in _SCALES and pieces[at].kind == "word":
            scale = _SCALES[word]
            last = scale
            if scale == 100:
                group *= 100
            else:
                total, group = total + group * scale, 0
        elif not (at > start and follows and ((word == "-" and last >= 20) or (word == "and" and last >= 100))):
            break
        at += 1
    if at == start:
        return None
    numeral = [Token("number", str(total + group), pieces[start].spaced)]
    if part := _part(pieces, at):  # two thirds
        return [*numeral, *part[0]], part[1]
    values = [piece.value.casefold() for piece in pieces[at : at + 2]]
    if values[:1] == ["and"] and len(values) > 1:
        above = "1" if values[1] in ("a", "one") else str(_VALUES.get(values[1], ""))
        if above and (part := _part(pieces, at + 2)):  # three and a half
            return [*numeral, Token("number", above, True), *part[0]], part[1]
    return None if values[:1] == ["-"] else (numeral, at)


def _part(pieces: Sequence[Token], at: int) -> tuple[list[Token], int] | None:
    """The rest of a fraction whose numerator ends there."""
    at += at < len(pieces) and pieces[at].value == "-"
    if at >= len(pieces) or pieces[at].kind != "word":
        return None
    word = pieces[at].value.casefold()
    below = _PARTS.get(word) or _PARTS.get(word.removesuffix("s"))
    return ([Token("sign", "/", False), Token("number", str(below), False)], at + 1) if below else None
