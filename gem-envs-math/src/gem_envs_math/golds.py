r"""Golds as data sets of mathematics write them: after a solution and `####`, in `\boxed{…}`."""

import re
from typing import Any

from gem.answers.parsing import boxed
from gem.data.golds import golds_of

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MOST_BOXES = 50
_JOINED = re.compile(
    r"\}[\s$]*(?:(?:[,;]|\b(?:and|or)\b|\\(?:text|mbox|textrm)\s*\{\s*,?\s*(?:and|or)\s*\})[\s$]*)+(?:\\?[A-Za-z]\w*\s*=\s*)?$"
)
"""What stands between two boxes that are one answer, after the content of the first: `} or x = `."""
_SAID = re.compile(r"\banswer\s*(?:is|:)\s*:?\s*(?P<answer>[^\n]+?)\s*$", re.IGNORECASE)
_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{2,}(?!\w)")
_MOST_WORDS = 25
"""Words of the longest answer that is taken as it is; what is longer is a solution."""


def math_golds(value: Any) -> tuple[str, ...]:
    r"""The right answers in a column, as `grade` takes them; each is right by itself.

    >>> math_golds("6 times 7 is 42.\n#### 42"), math_golds(r"It is $\boxed{\frac{1}{2}}$."), math_golds([7, "seven"])
    (('42',), ('\\frac{1}{2}',), ('7', 'seven'))

    Boxes that only a comma, "and" or "or" joins are one answer, which has all of them; else the last box counts.

    >>> math_golds(r"So $x = \boxed{3}$ or $\boxed{4}$."), math_golds(r"$\boxed{3}$ is too small: it is $\boxed{4}$.")
    (('3, 4',), ('4',))

    Raises:
        ValueError: there is no answer, or a solution without a mark of the answer in it.
    """
    return tuple(dict.fromkeys(_answer(str(gold)) for gold in golds_of(value)))


def _answer(gold: str) -> str:
    before, mark, after = gold.rpartition("####")
    found = after.strip() if mark else _boxes(gold)
    if mark and not found:
        raise ValueError(f"there is nothing after the last ####: {before[-60:]!r}")
    if found:
        return found
    if said := _SAID.search(gold.strip().removesuffix(".")):
        return said["answer"]
    if len(_WORD.findall(gold)) > _MOST_WORDS:
        raise ValueError(f"a solution in which no #### and no \\boxed{{}} marks the answer: {gold.strip()[:80]!r}")
    return gold


def _boxes(gold: str) -> str:
    """The content of the last box, after those of the boxes that are joined to it."""
    contents: list[str] = []
    while content := (boxed(gold) or "").strip():
        if len(contents) == _MOST_BOXES:
            raise ValueError(f"more than {_MOST_BOXES} boxes are one answer")
        box = [match for match in _BOX.finditer(gold) if gold[match.end() :].lstrip().startswith(content)][-1]
        if contents and gold[box.end() :].strip() != content + "}":
            break  # the box that is joined holds another box
        if content not in contents:
            contents.insert(0, content)
        joined = _JOINED.search(gold, 0, box.start())
        if joined is None:
            break
        gold = gold[: joined.start() + 1]
    return ", ".join(contents)
