r"""Golds as data sets of mathematics write them: after a solution and `####`, in `\boxed{…}`."""

import re
from collections.abc import Iterable
from typing import Any

from gem.answers.parsing import boxed
from gem.data.golds import golds_of
from gem_envs_math.grading import grade
from gem_envs_math.grading.grade import CHOICE

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MOST_BOXES = 50
_JOINED = re.compile(
    r"\}[\s$]*(?:(?:[,;]|\b(?:and|or)\b|\\(?:text|mbox|textrm)\s*\{\s*,?\s*(?:and|or)\s*\})[\s$]*)+(?:\\?[A-Za-z]\w*(?:_\{\w+\})?\s*=\s*)?$"
)
"""What stands between two boxes that are one answer, after the content of the first: `} or x = `."""
_NAME = re.compile(r"(?<![^\s$(,;:{}])(?<![-+*/=^]\s)(\\?[A-Za-z]\w*(?:_\{\w+\})?)\s*=\s*$")
"""The name before a box, which has all of the equation's side."""
_LONGEST_NAME = 40
_SAID = re.compile(r"\banswer\s*(?:is|:)\s*:?\s*(?P<answer>[^\n]+?)\s*$", re.IGNORECASE)
_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{2,}(?!\w)")
_MOST_WORDS = 25
"""Words of the longest answer that is taken as it is; what is longer is a solution."""


def math_golds(value: Any) -> tuple[str, ...]:
    r"""The right answers in a column, as `grade` takes them; each is right by itself.

    >>> math_golds("6 times 7 is 42.\n#### 42"), math_golds(r"It is $\boxed{\frac{1}{2}}$."), math_golds([7, "seven"])
    (('42',), ('\\frac{1}{2}',), ('7', 'seven'))

    Boxes that only a comma, "and" or "or" joins are one answer, which has all of them, with their names if they differ;
    unless all are equal: then each is one. Else the last box counts.

    >>> math_golds(r"So $x = \boxed{3}$ or $\boxed{4}$."), math_golds(r"$\boxed{3}$ is too small: it is $\boxed{4}$.")
    (('3, 4',), ('4',))
    >>> math_golds(r"$x = \boxed{3}$ and $y = \boxed{4}$"), math_golds(r"$\boxed{12\%}$ or $\boxed{0.12}$")
    (('x = 3, y = 4',), ('12\\%', '0.12'))

    Raises:
        ValueError: there is no answer, or a solution without a mark of the answer in it.
    """
    return tuple(dict.fromkeys(answer for gold in golds_of(value) for answer in _answers(str(gold))))


def _answers(gold: str) -> list[str]:
    before, mark, after = gold.rpartition("####")
    if mark and not after.strip():
        raise ValueError(f"there is nothing after the last ####: {before[-60:]!r}")
    if mark:
        return [after.strip()]
    if boxes := _boxes(gold):
        return _joined(boxes)
    if said := _SAID.search(gold.strip().removesuffix(".")):
        return [said["answer"]]
    if len(_WORD.findall(gold)) > _MOST_WORDS:
        raise ValueError(f"a solution in which no #### and no \\boxed{{}} marks the answer: {gold.strip()[:80]!r}")
    return [gold]


def _boxes(gold: str) -> list[tuple[str, str]]:
    """The name before the last box, if it has one, and its content, after those of the boxes that are joined to it."""
    boxes: list[tuple[str, str]] = []
    while content := (boxed(gold) or "").strip():
        if len(boxes) == _MOST_BOXES:
            raise ValueError(f"more than {_MOST_BOXES} boxes are one answer")
        box = [match for match in _BOX.finditer(gold) if gold[match.end() :].lstrip().startswith(content)][-1]
        if boxes and gold[box.end() :].strip() != content + "}":
            break  # the box that is joined holds another box
        if boxes and bool(CHOICE.fullmatch(content)) != bool(CHOICE.fullmatch(boxes[0][1])):
            break  # a choice and its value
        name = _NAME.search(gold[max(0, box.start() - _LONGEST_NAME) : box.start()])
        boxes.insert(0, (name[1] if name else "", content))
        joined = _JOINED.search(gold, 0, box.start())
        if joined is None:
            break
        gold = gold[: joined.start() + 1]
    return boxes


def _joined(boxes: list[tuple[str, str]]) -> list[str]:
    """Boxes as one answer, or as several of which each is right, because all are equal."""
    contents = list(dict.fromkeys(content for _, content in boxes))
    firsts = dict(reversed(boxes))
    letters = {name.partition("_")[0] for name in firsts}  # x_1 and x_2 are solutions for x, and have no order
    is_named = len(letters) > 1 and "" not in firsts
    if is_named and grade(", ".join(firsts.values()), _named(firsts.items())).right:  # it is read: e is no name
        return [_named(boxes)]
    different: list[str] = []
    for content in contents:
        if not any(grade(content, other).right or grade(other, content).right for other in different):
            different.append(content)
    return contents if len(different) == 1 else [", ".join(different)]


def _named(boxes: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} = {content}" for name, content in boxes)
