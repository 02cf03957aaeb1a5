"""Comparing numbers that are written in a base, by their digits."""

import re
from typing import NamedTuple

from gem_envs_math.grading.asked import BASES
from gem_envs_math.grading.tokens import bare

_LONGEST = 400
_FONT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathit|mathtt|texttt|rm)\s*\{([^{}]*)\}")
_SPACE = re.compile(r"\\[ ,;:!]|\s|~|\{,\}|,(?=[0-9A-Za-z]{3})|[$]")
_LABEL = re.compile(r"[a-zA-Z]\s*=\s*(?=[-(0-9])")
_PREFIXES = {"0b": 2, "0o": 8, "0x": 16}
_DIGITS = re.compile(
    r"(?P<sign>-?)\(?(?P<digits>(?=[A-Za-z.]*[0-9])[0-9A-Za-z]*(?:\.[0-9A-Za-z]+)?)\)?"
    r"(?:_?[({]{0,2}(?:(?<=[_({])|(?=base))(?:inbase|base)?-?(?P<base>[0-9]{1,2}|[a-z]+)[)}]{0,2})?"
)


class Digits(NamedTuple):
    """A number as it is written."""

    digits: str
    """Capital letters and digits with a sign, without zeros that do not count."""
    base: int
    """0 if it does not say."""


def written(text: str) -> Digits | None:
    r"""The digits and the base of `1011_2`, `(1F4)_{16}`, `1011` or `202 \text{ (base 7)}`; None for anything else."""
    if len(text) > _LONGEST:
        return None
    text = _LABEL.sub("", bare(text), count=1)
    text = _SPACE.sub("", _FONT.sub(r"\1", text))
    prefix = _PREFIXES.get(text[:2].lower(), 0)
    match = _DIGITS.fullmatch(text[2:] if prefix and len(text) > 2 else text)
    if match is None:
        return None
    named = match["base"] or ""
    base = int(named) if named.isdecimal() else BASES.get(named, -1) if named else prefix
    if base < 0 or base == 1 or base > 36:
        return None
    whole, point, part = match["digits"].upper().partition(".")
    part = part.rstrip("0")
    digits = match["sign"] + (whole.lstrip("0") or "0") + (point + part if part else "")
    if base and any(int(digit, 36) >= base for digit in digits if digit not in "-."):
        return None
    return Digits(digits, base)


def same(answer: str, gold: str, asked: int) -> bool | None:
    """Tell whether the digits are the same, in the base that the gold has or else the one `asked`; None if that does
    not decide: no base is named, or the gold is no number of it.

    A base may be left out. Another one than the gold's is wrong: a conversion that was not done.
    """
    right = written(gold)
    if right is None:
        return None
    base = right.base or asked
    if not base:
        return None
    given = written(answer)
    if given is None:
        # What is left to calculate, such as 101_2 + 1_2, is not a number of the base.
        return False if right.base else None
    if given.base not in (0, base):
        return False
    if given.digits == right.digits:
        return True
    return False if right.base or given.base else None
