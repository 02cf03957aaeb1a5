"""What a question asks for: percents, a time, degrees or radians, a number of a unit, a rounded number, a base."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gem_envs_math.grading.units import measure

_LONGEST = 20_000
"""Characters of a question that are read: the last ones, because what is asked for stands at the end."""

_FIGURE = re.compile(
    r"\[asy\](?:(?!\[asy\]).)*?\[/asy\]|\\begin\{(tabular|array)\}(?:(?!\\begin).)*?\\end\{\1\}", re.DOTALL
)
"""Figures and tables: their text asks for nothing."""
_SENTENCE = re.compile(r"(?<=[.?!:])(?:['\")$\]]|\\\])*\s+(?=[^a-z]|[a-z]\b)|\n\s*\n")
_FORM = re.compile(
    r"\W*(?:note|enter|express|give|write|round|answer|leave|include|state|your answer|assume|use|you (?:may|can))\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about the form of the answer, after the one that asks."""
_ASKS = re.compile(
    r"\?|\b(?:add|calculate|compute|convert|determine|estimate|evaluate|express|find|give|how|multiply|round|simplify|solve|"
    r"subtract|what|which|write)\b",
    re.IGNORECASE,
)

_PERCENT = r"(?:per ?cent(?:age)?s?\b|\\?%)"
_NO_NUMBER = r"[^.?!\d%]"
_ASKS_PERCENT = re.compile(
    rf"\b(?:what|which|how many){_NO_NUMBER}{{0,60}}?\b{_PERCENT}"
    rf"|\b(?:find|compute|calculate|determine|by how many)\b{_NO_NUMBER}{{0,60}}?\b{_PERCENT}"
    rf"|\b(?:as|in|of) (?:[a-z]+ ){{0,4}}{_PERCENT}(?! of)|\bnearest (?:\w+ (?:of a )?)?{_PERCENT}",
    re.IGNORECASE,
)
_UNKNOWN_PERCENT = re.compile(r"(?<![A-Za-z\\])([A-Za-z])\$?\s?(?:\\?%|percent)")
"""x%, where x may be asked for."""
_ASKS_RATE = re.compile(
    r"\b(?:what|find|which)\b[^.?!]{0,60}?\b(?:(?:interest|tax|discount|growth|inflation|commission|annual) rate"
    r"|(?:her|his|the|their|test|quiz|exam)(?: \w+)? (?:score|grade|mark)s?)\b",
    re.IGNORECASE,
)
_GIVEN_PERCENT = re.compile(rf"\d\s?\$?\s?{_PERCENT}")
_NOT_PERCENT = re.compile(r"\b(?:fraction|decimal|ratio)\b", re.IGNORECASE)
_ANGLE = re.compile(
    r"(?P<radian>\bradians?\b)|\b(?:in|to|how many|number of|to the nearest(?: \w+ of a)?) degrees?\b"
    r"|\bdegrees?(?: and \w+)? (?:is|are|does|in)\b|\bdegree measure",
    re.IGNORECASE,
)
_TEMPERATURE = re.compile(r"temperature|thermometer|celsius|fahrenheit", re.IGNORECASE)

_TIME = re.compile(r"\b(?:what|which) time\b|\btime of day\b|o'clock|\bhh:mm\b|\b(?:12|24)-hour\b", re.IGNORECASE)
_RATIO = re.compile(r"\b(?:ratio|odds|proportion)\b", re.IGNORECASE)
_UNIT = re.compile(
    # A set of letters in front, and not \b, is what makes a search fast.
    r"[HhNnIi](?<![A-Za-z][a-z])(?:(?<=[Hh])ow many|(?<=[Nn])umber of|(?<=[Ii])n)(?: more| fewer)?\s+"
    r"(?P<unit>(?:(?:square|cubic)\s+)?[A-Za-z]{2,}(?:\s+per\s+[A-Za-z]+)?\b|[mgsL](?=\s*[.,;:?)]| of\b))"
)
_NO_UNITS = {"second", "in", "mi", "pt"}

_PLACES = {
    "tenth": 1, "hundredth": 2, "thousandth": 3, "ten-thousandth": 4, "ten thousandth": 4, "cent": 2, "penny": 2,
}  # fmt: skip
_NEAREST = re.compile(
    r"\bnearest (?P<place>(?:ten[- ])?thousandth|hundredth|tenth|cent|penny|whole|integer|dollar|10+th)\b"
    r"|\b(?P<count>\d|one|two|three|four|five|six) (?:decimal (?:place|digit|point)s?|decimals|digits after the)",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:each|both|all|estimate)\b[^.?!]{0,60}\b(?:round|nearest)|\bround (?:each|both|all)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?![\w])")
_COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
}  # fmt: skip
BASES = {**_COUNTS, "binary": 2, "octal": 8, "decimal": 10, "hexadecimal": 16}
"""How a base is called."""
_BASE = re.compile(
    r"\b(?P<before>in|to|into|as|of|is|the)\W+(?:(?:an?|the|its|terms of) )?"
    rf"base[- $]*(?P<base>\d+|{'|'.join(_COUNTS)})\b(?P<equivalent>\W{{0,3}}equivalent)?"
    r"|\b(?:in|to|into) (?P<name>binary|octal|hexadecimal|decimal (?=notation|number))",
    re.IGNORECASE,
)
_ASKED_BASE = {"in", "to", "into", "as"}


class Asked(NamedTuple):
    """What a question asks for, as far as that decides how an answer is read."""

    percent: bool = False
    """A number of percents: 20 is 20%, and 0.2 is 0.2%."""
    time: bool | None = None
    """Whether `3:10` is a time of day; False if it asks for a ratio, None if it does not say."""
    angle: str = ""
    """`degree^1` or `radian^1`, as units are called: an angle in the other one is not the answer."""
    unit: tuple[str, Fraction] | None = None
    """The unit of a number of dollars or metres, as `gem_envs_math.grading.units` calls it, and its factor."""
    place: Fraction | None = None
    """The place to which the answer is rounded: 1/10 for the nearest tenth."""
    base: int = 0
    """The base in which the answer is written; 0 if the question names none."""
    numbers: frozenset[Fraction] = frozenset()
    """The numbers that are to be rounded, maybe: those of the question."""

    def rounds(self, gold: Fraction, answer: Fraction, unit: Fraction = Fraction(1)) -> bool:
        """Tell whether `answer`, in units of `unit`, has `gold` as what the question asks it to be rounded to.

        Not if `gold` has more digits than that, nor if a number of the question rounds to it: then that is the task.
        """
        if self.place is None or (gold / unit / self.place).denominator != 1:
            return False
        half = self.place * unit / 2
        if any(number * unit != gold and abs(number * unit - gold) <= half for number in self.numbers):
            return False
        return abs(gold - answer) < half or answer - gold == (-half if gold > 0 else half)


NOTHING = Asked()
"""What is known without a question."""


@lru_cache(maxsize=512)
def asked_by(question: str) -> Asked:
    """What `question` asks for; its last question decides, and what is said after it about the form of the answer."""
    text = _FIGURE.sub(" ", question[-_LONGEST:])
    if not text.strip():
        return NOTHING
    asking = _asking(text)
    folded = text.casefold()

    def has(*words: str) -> bool:  # much faster than the searches that it may save
        return any(word in folded for word in words)

    percent = has("%", "cent") and _is_percent(asking, text)
    place = None
    if has("nearest", "decimal", "digit") and not _EACH.search(asking):
        place = _place(asking)
    numbers = frozenset[Fraction]()
    if place is not None:
        written = (match[0].replace(",", "") for match in _NUMBER.finditer(text) if len(match[0]) < 40)
        numbers = frozenset(map(Fraction, written))
    is_time = has("time", "clock", "hh:mm", "hour") and _TIME.search(asking) is not None
    time = is_time or (False if has("ratio", "odds", "proportion") and _RATIO.search(text) else None)
    angle = _angle(asking, text) if not percent and has("degree", "radian") else ""
    base = _base(asking) if has("base", "binary", "octal", "decimal") else 0
    return Asked(percent, time, angle, _unit(asking), place, base, numbers)


def _asking(text: str) -> str:
    """The sentence that asks, with what follows it."""
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence and sentence.strip()]
    for start in range(len(sentences) - 1, -1, -1):
        if _ASKS.search(sentences[start]) and not _FORM.match(sentences[start]):
            return " ".join(sentences[start:])
    return text


def _is_percent(asking: str, text: str) -> bool:
    if _ASKS_PERCENT.search(asking):
        return True
    for name in set(_UNKNOWN_PERCENT.findall(text)):
        if re.search(
            rf"\b(?:what|find|determine|compute|value)\b[^.?!]{{0,60}}?(?<![A-Za-z\\]){name}(?![A-Za-z])",
            asking,
            re.IGNORECASE,
        ):
            return True
    rate = _ASKS_RATE.search(asking) is not None and _GIVEN_PERCENT.search(text) is not None
    return rate and _NOT_PERCENT.search(asking) is None


def _angle(asking: str, text: str) -> str:
    units = ["radian^1" if match["radian"] else "degree^1" for match in _ANGLE.finditer(asking)]
    return units[-1] if units and not _TEMPERATURE.search(text) else ""


def _unit(asking: str) -> tuple[str, Fraction] | None:
    """The unit that is named, if only one is."""
    found = [measure(match["unit"].split()) for match in _UNIT.finditer(asking) if match["unit"] not in _NO_UNITS]
    units = {(unit.name, unit.factor) for unit in found if unit is not None}
    return units.pop() if len(units) == 1 else None


def _place(text: str) -> Fraction | None:
    """The last place that is named, if it is a decimal one or the last before the point."""
    places = list(_NEAREST.finditer(text))
    if not places:
        return None
    found = places[-1]
    if count := found["count"]:
        return Fraction(1, 10 ** (int(count) if count.isdecimal() else {"one": 1, **_COUNTS}[count.lower()]))
    name = found["place"].lower()
    if name.endswith("0th"):
        return Fraction(1, 10 ** (len(name) - 3))
    return Fraction(1, 10 ** _PLACES.get(name, 0))


def _base(asking: str) -> int:
    found = 0
    for match in _BASE.finditer(asking):
        if match["name"]:
            found = BASES[match["name"].strip().lower()]
        elif match["equivalent"] or match["before"].lower() in _ASKED_BASE:
            found = int(match["base"]) if match["base"].isdecimal() else BASES[match["base"].lower()]
    return found if 2 <= found <= 36 else 0
