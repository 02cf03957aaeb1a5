r"""Detection of answers that only repeat a formula of their question.

`\sqrt{48}` equals $4\sqrt{3}$, so a grader that looks at values gives full marks to whoever copies the formula after
"Simplify" or "Factorise" into the box. In training, that is soon found.
"""

import re
from collections.abc import Iterable

_FORMULA = re.compile(
    r"(?<!\\)\$\$?(?P<dollars>[^$]+?)(?<!\\)\$\$?|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL
)
_NOTHING = re.compile(r"\s|\\[,;:!]|\\(left|right|displaystyle)(?![a-zA-Z])|~|\$")
_FRACTION = re.compile(r"\\[dt]?frac(?:\{([0-9]+)\}\{([0-9]+)\}|([0-9])([0-9]))")
_SMALL = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_BRACKETS = re.compile(r"\(([^()]*)\)|\{([^{}]*)\}")
_GIVEN = re.compile(r"[+-]?[0-9]+|[a-zA-Z]")
"""Integers and letters: they may well be the answer to a question in which they stand."""


def is_copied(answer: str, question: str, golds: Iterable[str]) -> bool:
    r"""Tell whether `answer` is a whole formula of `question`, in `$…$`, `\(…\)` or `\[…\]`, not written like a gold.

    Space, sizes, brackets around all of it, and a name before it (`y = …`) do not count. Integers and letters are never
    copies.
    """
    written = _forms(answer)
    if any(map(_GIVEN.fullmatch, written)) or any(written & _forms(gold) for gold in golds):
        return False
    return any(written & _forms(formula[formula.lastgroup or 0]) for formula in _FORMULA.finditer(question))


def _forms(formula: str) -> set[str]:
    """The formula without what does not count, and the part after its last equals sign."""
    text = _NOTHING.sub("", formula).rstrip(".,;:?")
    text = _SMALL.sub(r"\\frac", _FRACTION.sub(r"\1\3/\2\4", text))
    forms = {text, text.rpartition("=")[2]}
    return {(brackets[1] or brackets[2] or "") if (brackets := _BRACKETS.fullmatch(form)) else form for form in forms}
