r"""Formulas in the text of a question: in `$…$`, `\(…\)` or `\[…\]`."""

import re

_FORMULA = re.compile(
    r"(?<!\\)\$\$?(?P<dollars>[^$]+?)(?<!\\)\$\$?|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL
)
_MONEY = re.compile(
    r"\\\$(?=\s*[\d.])|\$\\\$\$"
    # `$5 per m, … $20`: the next dollar sign begins something, and so does not end what this one would begin.
    r"|(?<![\\$])\$(?=\.?\d(?:[^$\\]|\\.)*(?:[\s(]\${1,2}[\w\\(.-]|[-\u2013/]\$\d|\Z))",
    re.DOTALL,
)


def without_money(text: str) -> str:
    """The text without the dollar signs of amounts, between which there is no formula."""
    return _MONEY.sub(" ", text)


def formulas_in(text: str) -> list[tuple[int, str]]:
    """The formulas of a text without money: where each begins, with its sign, and what it is."""
    return [(match.start(), match[match.lastgroup or 0]) for match in _FORMULA.finditer(text)]
