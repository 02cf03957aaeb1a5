"""Comparing times of day: `3:30 PM`, `15:30`, `08:12:00`, `noon`."""

import re
from typing import NamedTuple

from gem_envs_math.grading.tokens import FONTS, bare

_LONGEST = 60
_FONT = re.compile(rf"\\(?:{FONTS})\s*\{{([^{{}}]*)\}}")
_COLON = re.compile(r"\s*(?:\{\s*:\s*\}|\\colon(?![A-Za-z])|:)\s*")
_WITHIN = re.compile(r"(?<![\d/.:])\d\d?(?::[0-5]\d){0,2}\s*[ap]\.?\s?m\b", re.IGNORECASE)
_TIME = re.compile(
    r"(?P<hour>\d\d?)(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?\s*(?:(?P<half>[ap])\.?\s?m\.?)?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:,|;|\b(?:and|or)\b)\s*")
_WORDS = {"noon": "12 pm", "midnight": "12 am"}


class Time(NamedTuple):
    """A time of day as it is written."""

    hour: str
    minute: int | None
    second: int | None
    half: str
    """`a` or `p` of `a.m.` and `p.m.`, or nothing."""

    is_surely: bool
    """It can be no ratio: it has `a.m.` or `p.m.`, or a number that begins with 0, as in `08:12` and `5:00`."""

    def hours(self) -> set[int]:
        """The hours since midnight: two if the half of the day is not named."""
        hour = int(self.hour)
        if not self.half and (hour > 12 or self.hour[0] == "0"):
            return {hour}
        return {hour % 12 + 12 * (half == "p") for half in self.half or "ap"}


def written(text: str) -> Time | None:
    r"""The time in `3:30 PM`, `15:30:00`, `3 \text{ p.m.}`, or the hour in `3`; None for anything else."""
    if len(text) > _LONGEST:
        return None
    text = _plain(text)
    match = _TIME.fullmatch(_WORDS.get(text.lower(), text))
    if match is None:
        return None
    hour, half = match["hour"], (match["half"] or "").lower()
    if not (1 <= int(hour) <= 12 if half else int(hour) < 24):
        return None
    minute, second = (None if match[part] is None else int(match[part]) for part in ("minute", "second"))
    is_surely = bool(half) or (minute is not None and re.search(r"\b0", match[0]) is not None)
    return Time(hour, minute, second, half, is_surely)


def same(answer: str, gold: str, asked: bool | None) -> bool | None:
    """Tell whether both are the same time of day, or times in any order; None if the gold is none, or may be a ratio.

    `3:10`, `3:30` and `10:15:12` may be ratios, unless the question asks for a time, or one can be no ratio. The half
    of the day may be left out (`3:30` for `3:30 PM`, but not for `15:30`), and so may minutes and seconds of 0.

    Args:
        answer: the text of the answer.
        gold: the right answer.
        asked: whether the question asks for a time; False if it asks for a ratio, None if that is not known.
    """
    rights = _times(gold)
    if rights is None or any(right.minute is None and not right.half for right in rights):
        return None
    givens = _times(answer)
    if not asked and not any(time.is_surely for time in (*rights, *(givens or ()) * (asked is None))):
        return None
    if givens is None:
        # Other rules may read `x = 3:30 PM`, but to them 1/10 PM is the same.
        within = [written(match[0]) for match in _WITHIN.finditer(_plain(answer[: 10 * _LONGEST]))]
        return None if any(_same(right, each) for right in rights for each in within if each is not None) else False
    if len(givens) != len(rights):
        return False
    return all(any(_same(right, given) for given in givens) for right in rights) and all(
        any(_same(right, given) for right in rights) for given in givens
    )


def _times(text: str) -> list[Time] | None:
    if len(text) > 10 * _LONGEST:
        return None
    parts = [written(part) for part in _BETWEEN.split(_plain(text), 10)]
    return None if None in parts else [part for part in parts if part is not None]


def _plain(text: str) -> str:
    r"""The text without LaTeX's fonts and spaces, one of which is `\;`."""
    return _COLON.sub(":", _FONT.sub(r"\1", bare(text))).strip()


def _same(right: Time, given: Time) -> bool:
    if (right.minute or 0, right.second or 0) != (given.minute or 0, given.second or 0):
        return False
    if right.half or given.half:
        return not right.hours().isdisjoint(given.hours())
    return int(right.hour) == int(given.hour)
