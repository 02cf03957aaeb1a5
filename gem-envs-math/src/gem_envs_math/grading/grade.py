"""`grade`: whether an answer is right, and by which rule."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gem.answers.number import read_number
from gem_envs_math.grading import bases, clock
from gem_envs_math.grading.answers import Answer, read
from gem_envs_math.grading.asked import NOTHING, Asked, asked_by
from gem_envs_math.grading.compare import Comparison, Undecided
from gem_envs_math.grading.letters import VARIABLES, Letters, letters_of
from gem_envs_math.grading.pool import compare
from gem_envs_math.grading.rational import TooLarge
from gem_envs_math.grading.tokens import bare

_PLAIN = re.compile(r"[-+]?(?:\d{1,300}|\d{1,300}\.\d{1,300}|\d{1,300}/\d{1,300}|\\d?frac\{\d{1,300}\}\{\d{1,300}\})")
_CLOCK = re.compile(r"\d\{?:\}?\d|(?:[ap]\.?\s?m\.?|noon|midnight)[\s}$]*\Z", re.IGNORECASE)
"""Times of day have this."""
CHOICE = re.compile(r"(?:\\text(?:bf)?\{)?\s*(?:\\text(?:bf)?\{)?\(?([A-J])\)?\s*\}?\s*[.:)]?\s*\}?")
"""A gold that is the letter of a choice."""
_CHOSEN = re.compile(
    r"(?:(?:the )?(?:option|choice|answer|letter))?:?\s*"
    r"(?:\$|\\text(?:bf|rm)?\{|\\mathrm\{|\\mathbf\{|\*\*)*\s*(?:\(([A-Ja-j])\)|([A-J]))(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)


_HEDGED = re.compile(
    r"""\([A-Ja-j]\)
    |(?i:\b(?:or|and|not|but|nor|neither|either|maybe|perhaps|instead|rather|unless)\b|n't\b)
    |^\s*(?i:is|was)\b(?!\s+(?i:the\s+)?(?i:correct|right|true|(?:correct|right)?\s*(?:answer|option|choice))\W*$)
    |(?:^|[;,.:]|(?i:\b(?:is|are|option|choice|answer|choose|pick|then|so|to)\b:?))\s*\(?[A-J]\)?\s*(?:$|[;,.:)])""",
    re.VERBOSE,
)
"""What takes back the choice before it: another one, or a word such as `not`."""
_CALL = re.compile(r"(?:(?<![A-Za-z])[A-Za-z]|\\[A-Za-z]+)\([A-Ja-j]\)")
"""`f(a)` and `\\sin(a)` name no choice,"""
_INITIALS = re.compile(r"[.:)]?\s*(?:[A-Z]\.\s+)+(?=[A-Za-z][a-z]{2})")
"""and neither do the initials of `E. coli`."""


class Verdict(NamedTuple):
    """A judgement on an answer."""

    right: bool
    rule: str
    """The rule that decided: see the README of the pack."""


def grade(
    answer: str, gold: str | Sequence[str], *, question: str = "", tolerance: float = 0.0, seconds: float = 2.0
) -> Verdict:
    r"""Judge `answer`. Takes bounded time for any text; safe in threads and in forked processes.

    Args:
        answer: the answer alone, such as the content of the box: `\frac{1}{2}`, `x = 3`, `10 cm`.
        gold: the right answer; or several, each of which is right by itself.
        question: the text of the question, if it is known. Then 20 is 20% where it asks for percents, 5 is 5 dollars
            where it asks for dollars, and an answer may have more digits than it asks for; see
            `gem_envs_math.grading.asked`. Letters may be units that it names.
        tolerance: the largest difference of two numbers, as a share of the gold: 0 for none. 0.01 accepts 3.14 for pi.
        seconds: how long math-verify may work on one answer. Waiting for a free process does not count.

    Raises:
        GraderFailed: the grader failed, so the answer is neither right nor wrong.
    """
    golds = [gold] if isinstance(gold, str) else gold
    verdict = Verdict(False, "no gold")
    asked, letters = (asked_by(question), letters_of(question)) if question else (NOTHING, Letters())
    for each in golds:
        verdict = _grade(answer, each, asked, letters, tolerance, seconds)
        if verdict.right:
            break
    return verdict


def _grade(answer: str, gold: str, asked: Asked, letters: Letters, tolerance: float, seconds: float) -> Verdict:
    answer, gold = answer.strip(), gold.strip()
    if not answer:
        return Verdict(False, "empty")
    if answer == gold:
        return Verdict(True, "text")
    if (asked.base or "_" in gold) and (same := bases.same(answer, gold, asked.base)) is not None:
        return Verdict(same, "base")
    if _CLOCK.search(gold) and (same := clock.same(answer, gold, asked.time)) is not None:
        return Verdict(same, "time")
    if asked.place is None and _PLAIN.fullmatch(answer) and _PLAIN.fullmatch(gold):
        value, right = read_number(answer), read_number(gold)
        if value is not None and right is not None:
            return Verdict(abs(value - right) <= tolerance * abs(right), "number")
    if choice := CHOICE.fullmatch(gold):
        verdict = _choice(answer, choice[1])
        if verdict is not None:
            return verdict
    return _compared(answer, gold, asked, letters, tolerance, seconds)


def _choice(answer: str, letter: str) -> Verdict | None:
    """Judge the answer to a multiple-choice question; None if it is not a letter."""
    match = _CHOSEN.fullmatch(answer)
    if match is None:
        return None
    rest = match["rest"].strip(" }$*")
    if rest and not (match[1] or rest[0] in ".:)"):
        return None
    chosen = match[1] or match[2]
    said = _CALL.sub("", rest)
    if initials := _INITIALS.match(said):
        said = said[initials.end() :]
    if _HEDGED.search(said) or _goes_on(rest, chosen):
        return Verdict(False, "choice")
    return Verdict(chosen.upper() == letter, "choice")


def _goes_on(rest: str, first: str) -> bool:
    """Tell whether `rest` goes on as `A. 1 B. 2 C. 3`, where choices are repeated: the next label, or A, is in it."""
    if not rest or rest[0] not in ".:)":
        return False
    labels = f"{chr(ord(first) + 1)}{'A' if first.isupper() else 'a'}"
    return re.search(rf"(?<![-+*/=<>]\s)(?<=\s)[{labels}]{re.escape(rest[0])}[\s$\d]", rest) is not None


def _compared(answer: str, gold: str, asked: Asked, letters: Letters, tolerance: float, seconds: float) -> Verdict:
    right = read(gold, letters)
    given = read(answer, letters.of_answer(right.units))
    if right.tokens and right.tokens == given.tokens:
        return Verdict(True, "text")
    if (right.words or given.words) and not (
        bool(right.words) != bool(given.words) and right.readings and given.readings
    ):
        return Verdict(bool(right.words) and _listed(right) == _listed(given), "words")
    if given.problem == "too long" != right.problem:
        return Verdict(False, "too long")
    if given.problem == "unreadable" and not right.problem:
        return Verdict(False, "unreadable")
    if right.readings and given.readings:
        try:
            verdict = _read_alike(right, given, asked, tolerance)
            if not verdict.right and right.is_letters:  # 0.5 A may be half of A
                verdict = _read_alike(read(gold, VARIABLES), read(answer, VARIABLES), asked, tolerance)
            return verdict
        except (TooLarge, RecursionError):
            return Verdict(False, "too large")
        except Undecided:
            pass
    return _math_verify(answer, gold, tolerance, seconds)


def _listed(answer: Answer) -> list[str]:
    """The items of a list in words, sorted."""
    text = " ".join("," if word in (",", "and") else word for word in answer.words)
    return sorted(part.strip() for part in text.split(",") if part.strip())


def _read_alike(gold: Answer, answer: Answer, asked: Asked, tolerance: float) -> Verdict:
    rule = "value"
    for right in gold.readings:
        for given in answer.readings:
            comparison = Comparison(gold.digits + answer.digits, tolerance, asked)
            if comparison.same(right, given):
                return Verdict(True, comparison.rule)
            rule = comparison.rule
    return Verdict(False, rule)


def _math_verify(answer: str, gold: str, tolerance: float, seconds: float) -> Verdict:
    return Verdict(*compare(bare(answer), bare(gold), tolerance=tolerance, seconds=seconds))
