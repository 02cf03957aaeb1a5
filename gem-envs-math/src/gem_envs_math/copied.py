r"""Whether an answer only repeats a formula of its question.

`\sqrt{48}` equals $4\sqrt{3}$, so a grader that looks at values gives full marks to whoever copies the formula after
"Simplify" or "Factorise" into the box. In training, that is soon found.
"""

import re
from collections.abc import Iterable

_FORMULA = re.compile(
    r"(?<!\\)\$\$?(?P<dollars>[^$]+?)(?<!\\)\$\$?|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL
)
_EMPTY = re.compile(r"\s|\\[,;:!]|\\(left|right|displaystyle)(?![a-zA-Z])|~|\$")
_FRACTION = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_SHORT_FRACTION = re.compile(r"\\frac([0-9])([0-9])")
_GIVEN = re.compile(r"[+-]?[0-9]+|[a-zA-Z]=.*[0-9a-zA-Z)}]|[a-zA-Z]")
"""Integers and letters, and what is known of a letter. They may be the answer to a question in which they stand."""


def is_copied(answer: str, question: str, golds: Iterable[str]) -> bool:
    r"""Whether `answer` is a whole formula of `question`, in `$…$`, `\(…\)` or `\[…\]`, and is not written like a gold.

    Space and size do not count. Integers, letters and formulas such as `x = 2` are never copies.
    """
    written = _bare(answer)
    if _GIVEN.fullmatch(written) or any(written == _bare(gold) for gold in golds):
        return False
    return any(written == _bare(formula[formula.lastgroup or 0]) for formula in _FORMULA.finditer(question))


def _bare(formula: str) -> str:
    text = _FRACTION.sub(r"\\frac", _EMPTY.sub("", formula)).rstrip(".,;:?")
    return _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", text)
