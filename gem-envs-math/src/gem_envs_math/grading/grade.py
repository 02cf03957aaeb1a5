"""`grade`: whether an answer is right, and by which rule."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gem.number import read_number
from gem_envs_math.grading.answers import Answer, read
from gem_envs_math.grading.compare import Comparison, Undecided
from gem_envs_math.grading.pool import shared
from gem_envs_math.grading.rational import TooLarge
from gem_envs_math.grading.rules import Rules
from gem_envs_math.grading.tokens import bare

DEFAULT = Rules()
_PLAIN = re.compile(r"[-+]?(?:\d{1,300}|\d{1,300}\.\d{1,300}|\d{1,300}/\d{1,300}|\\d?frac\{\d{1,300}\}\{\d{1,300}\})")
_CHOICE = re.compile(r"(?:\\text(?:bf)?\{)?\s*(?:\\text(?:bf)?\{)?\(?([A-J])\)?\s*\}?\s*[.:)]?\s*\}?")
_CHOSEN = re.compile(
    r"(?:option|choice|answer)?:?\s*(?:\$|\\text(?:bf|rm)?\{|\\mathrm\{|\\mathbf\{|\*\*)*\s*(?:\(([A-Ja-j])\)|([A-J]))(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)


class Verdict(NamedTuple):
    """Whether an answer is right."""

    right: bool
    rule: str
    """What decided it: see the README of the pack."""


def grade(answer: str, gold: str | Sequence[str], rules: Rules = DEFAULT) -> Verdict:
    r"""Whether `answer` is right. Takes bounded time for any text; safe in threads and in forked processes.

    Args:
        answer: the answer alone, such as the content of the box: `\frac{1}{2}`, `x = 3`, `10 cm`.
        gold: the right answer; or several, each of which is right by itself.
        rules: what counts as right.

    Raises:
        GraderFailed: the grader failed, so the answer is neither right nor wrong.
    """
    golds = [gold] if isinstance(gold, str) else gold
    verdict = Verdict(False, "no gold")
    for each in golds:
        verdict = _grade(answer, each, rules)
        if verdict.right:
            break
    return verdict


def _grade(answer: str, gold: str, rules: Rules) -> Verdict:
    answer, gold = answer.strip(), gold.strip()
    if not answer:
        return Verdict(False, "empty")
    if answer == gold:
        return Verdict(True, "text")
    if _PLAIN.fullmatch(answer) and _PLAIN.fullmatch(gold):
        value, right = read_number(answer), read_number(gold)
        if value is not None and right is not None:
            return Verdict(abs(value - right) <= rules.tolerance * abs(right), "number")
    if choice := _CHOICE.fullmatch(gold):
        verdict = _choice(answer, choice[1])
        if verdict is not None:
            return verdict
    return _compared(answer, gold, rules)


def _choice(answer: str, letter: str) -> Verdict | None:
    """Whether the letter of a multiple-choice question was given."""
    match = _CHOSEN.fullmatch(answer)
    if match is None:
        return None
    rest = match["rest"].strip(" }$*")
    if rest and not (match[1] or rest[0] in ".:)"):
        return None
    if re.search(r"\([A-Ja-j]\)|\b(?:or|and|not)\b", rest):
        return Verdict(False, "choice")
    return Verdict((match[1] or match[2]).upper() == letter, "choice")


def _compared(answer: str, gold: str, rules: Rules) -> Verdict:
    right, given = read(gold), read(answer)
    if right.tokens and right.tokens == given.tokens:
        return Verdict(True, "text")
    if right.words or given.words:
        return _words(right, given, rules)
    if given.problem == "too long" != right.problem:
        return Verdict(False, "too long")
    if given.problem == "unreadable" and not right.problem:
        return Verdict(False, "unreadable")
    if right.readings and given.readings:
        try:
            return _read_alike(right, given, rules)
        except (TooLarge, RecursionError):
            return Verdict(False, "too large")
        except Undecided:
            pass
    return _math_verify(answer, gold, rules)


def _words(gold: Answer, answer: Answer, rules: Rules) -> Verdict:
    ours, theirs = (_listed(each) for each in (gold, answer))
    if rules.several == "any order":
        ours, theirs = sorted(ours), sorted(theirs)
    return Verdict(bool(gold.words) and ours == theirs, "words")


def _listed(answer: Answer) -> list[str]:
    text = " ".join("," if word in (",", "and") else word for word in answer.words)
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_alike(gold: Answer, answer: Answer, rules: Rules) -> Verdict:
    rule = "value"
    for right in gold.readings:
        for given in answer.readings:
            comparison = Comparison(rules, gold.digits + answer.digits)
            if comparison.same(right, given):
                return Verdict(True, comparison.rule)
            rule = comparison.rule
    return Verdict(False, rule)


def _math_verify(answer: str, gold: str, rules: Rules) -> Verdict:
    texts = bare(answer), bare(gold)
    return Verdict(*shared().compare(*texts, tolerance=rules.tolerance, seconds=rules.seconds))
