"""Reading an integer out of an answer, without guessing."""

import re

MAX_DIGITS = 1000
"""Longer integers are not read: `int` takes time quadratic in the digits, and refuses a few thousand of them."""

_SIGN = r"(?P<sign>[+\-−]?)\s*"
_PLAIN = rf"[0-9]{{1,{MAX_DIGITS}}}"
# A first group of 1 to 3 digits without a leading zero, then groups of exactly three: anything else with a comma in
# it is a list, a decimal fraction or a slip.
_GROUPED = rf"[1-9][0-9]{{0,2}}(?:(?:,|\{{,\}})[0-9]{{3}}){{1,{MAX_DIGITS // 3 - 1}}}"
_INTEGER = re.compile(rf"{_SIGN}(?P<digits>{_PLAIN}|{_GROUPED})")


def read_integer(text: str) -> int | None:
    r"""The integer that `text` is, or None where it is none, in time linear in the text.

    Read are digits with an optional sign (`+`, `-` or the typographic minus), thousands separated by `,` or LaTeX's
    `{,}`, and one pair of dollar signs around it; spaces may stand at the ends and after the sign. Not read, because
    they could mean something else or nothing: `1 234`, `12,34`, `0,123`, `5.0`, `x = 5`, `2 + 3`.

    >>> read_integer(r" $-1{,}234$ ")
    -1234
    >>> read_integer("1,23") is None
    True
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "$":
        text = text[1:-1].strip()
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    value = int(match["digits"].replace("{,}", "").replace(",", ""))
    return value if match["sign"] in ("", "+") else -value
