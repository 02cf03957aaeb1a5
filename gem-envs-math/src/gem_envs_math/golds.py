r"""Golds as data sets of mathematics write them: after a solution and `####`, in `\boxed{…}`."""

import re
from typing import Any

from gem.answers.parsing import boxed
from gem.data.golds import golds_of

_SAID = re.compile(r"\banswer\s*(?:is|:)\s*:?\s*(?P<answer>[^\n]+?)\s*$", re.IGNORECASE)
_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{2,}(?!\w)")
_MOST_WORDS = 25
"""Words of the longest answer that is taken as it is; what is longer is a solution."""


def math_golds(value: Any) -> tuple[str, ...]:
    r"""The right answers in a column, as `grade` takes them; each is right by itself.

    >>> math_golds("6 times 7 is 42.\n#### 42"), math_golds(r"It is $\boxed{\frac{1}{2}}$."), math_golds([7, "seven"])
    (('42',), ('\\frac{1}{2}',), ('7', 'seven'))

    Raises:
        ValueError: there is no answer, or a solution without a mark of the answer in it.
    """
    return tuple(dict.fromkeys(_answer(str(gold)) for gold in golds_of(value)))


def _answer(gold: str) -> str:
    before, mark, after = gold.rpartition("####")
    found = after.strip() if mark else (boxed(gold) or "").strip()
    if mark and not found:
        raise ValueError(f"there is nothing after the last ####: {before[-60:]!r}")
    if found:
        return found
    if said := _SAID.search(gold.strip().removesuffix(".")):
        return said["answer"]
    if len(_WORD.findall(gold)) > _MOST_WORDS:
        raise ValueError(f"a solution in which no #### and no \\boxed{{}} marks the answer: {gold.strip()[:80]!r}")
    return gold
