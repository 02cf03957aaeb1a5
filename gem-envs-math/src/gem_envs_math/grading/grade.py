"""`grade`: whether an answer is right, and by which rule."""

from collections.abc import Sequence
from typing import NamedTuple

from gem.number import read_number
from gem_envs_math.grading.rules import Rules

DEFAULT = Rules()


class Verdict(NamedTuple):
    """Whether an answer is right."""

    right: bool
    rule: str
    """What decided it, such as `text` or `number`."""


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
    if answer.strip() == gold.strip() != "":
        return Verdict(True, "text")
    value, right = read_number(answer), read_number(gold)
    if value is None or right is None:
        return Verdict(False, "text")
    return Verdict(abs(value - right) <= rules.tolerance * abs(right), "number")
