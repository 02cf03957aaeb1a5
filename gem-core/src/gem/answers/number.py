r"""Reading a number from an answer, exactly. Accepted are, in digits of any script:

- integers and decimals with a sign: `42`, `+3`, `−7` (any dash), `3.0`, `3.`, `.5`;
- thousands set apart: `3,000`, `3{,}000`, `3 000`, `3\,000`, `3'000`, `3_000`;
- powers of ten: `1e3`, `1.5 \times 10^{3}`, `2 x 10³`, `10^3`;
- fractions: `6/2`, `\frac{6}{2}`, `\dfrac62`;
- all of these inside brackets, dollar signs, `\( \)`, `\[ \]`, `\left( \right)`, asterisks, `\text{}` and the like, and
  with a full stop at the end;
- the right-hand side after a name or a calculation: `x = 3`, `Answer: 3`, `4 + 5 = 9`.

A point is always the decimal point, so `1.000` is one; a comma always separates thousands, so `1,5`, `12,34` and
`0,123` are refused. So are expressions (`2 + 3`, `2^3`, `\sqrt{9}`), units, percent signs, approximations, and numbers
of more than `MAX_DIGITS` digits.
"""

import re
import unicodedata
from fractions import Fraction

MAX_DIGITS = 1000
"""Longer numbers are refused: `int` takes time quadratic in the digits."""

_LONGEST = 5 * MAX_DIGITS
_NESTED = 8
"""The most nested brackets, dollar signs and the like around a number."""

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_TIMES = "×⋅·∙✕"
_RAISED = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_FONT = re.compile(
    r"\\(?:text|textrm|textbf|textit|textsf|texttt|math(?:rm|bf|it|sf|tt|normal)|boldsymbol|bm|mbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_SIZE = re.compile(r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle)(?![A-Za-z])")
_SPACE = re.compile(r"\\[,;: ]|(?<=[0-9])~(?=[0-9])|\\(?:quad|qquad|thinspace|medspace|thickspace)(?![A-Za-z])|\s")
_NO_SPACE = re.compile(r"\\!|(?<=,)\\[,;: ]")
_MULTIPLY = re.compile(r"\\(?:times|cdot)(?![A-Za-z])\s*")
_AROUND = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ("(", ")"), ("{", "}"))

_NAME = re.compile(r"(?:[^\W\d_]+(?: [^\W\d_]+){0,4}(?:_(?:\w|\{\w+\}))?)?")
_CALCULATION = re.compile(r"[-+]?[0-9(][-+*/^0-9., ()]*[0-9)]")
_OPERATOR = re.compile(r"[-+*/^]")

_WHOLE = r"(?:[0-9]+|[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+|(?: [0-9]{3})+|(?:'[0-9]{3})+|(?:_[0-9]{3})+))"
_DECIMAL = rf"(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+)"
_POWER = r"10 ?(?:\^|\*\*) ?(?:\{ ?(?P<braced>[-+]?[0-9]{1,4}) ?\}|(?P<plain>[-+]?[0-9]{1,4}))"
_NUMBER = re.compile(
    rf"(?P<digits>{_DECIMAL})(?:[eE](?P<exponent>[-+]?[0-9]{{1,4}})| ?[*xX] ?{_POWER})?"
    rf"|{_POWER.replace('<', '<alone_')}"
)
_FRACTION = re.compile(r"\\[dtc]?frac ?(?:\{([^{}]*)\}|([0-9])) ?(?:\{([^{}]*)\}|([0-9]))")
_SLASH = re.compile(r"([^/]*)/([^/]*)")


def read_number(text: str) -> Fraction | None:
    r"""The exact value of the number in `text`, or None. Takes bounded time for any text.

    >>> read_number(r"$x = -\frac{6}{2}$")
    Fraction(-3, 1)
    >>> read_number("3,000.50")
    Fraction(6001, 2)
    >>> read_number("1,23") is None
    True
    """
    if len(text) > _LONGEST:
        return None
    # Nearly every answer is a short integer.
    if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS:
        return Fraction(int(text))
    return _value(_unlabelled(_bare(_plain(text))))


def _plain(text: str) -> str:
    """`text` in ASCII, without the fonts, sizes and spaces of LaTeX."""
    if not text.isascii():
        text = _RAISED.sub(lambda match: "^{" + "".join(map(_SUPERSCRIPTS.__getitem__, match[0])) + "}", text)
        text = "".join(map(_ascii, text))
    text = _SIZE.sub("", text)
    for _ in range(_NESTED):
        text, changes = _FONT.subn(r"\1", text)
        if not changes:
            break
    text = _NO_SPACE.sub("", text.replace("{,}", ","))
    text = _MULTIPLY.sub("*", text)
    return re.sub(" +", " ", _SPACE.sub(" ", text)).strip()


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if character in _DASHES:
        return "-"
    if character in _TIMES:
        return "*"
    if character == "\u2019":
        return "'"
    # The full-width forms have the order of ASCII.
    return chr(ord(character) - 0xFEE0) if "\uff01" <= character <= "\uff5e" else character


def _bare(text: str) -> str:
    """`text` without enclosing brackets and marks, and without a full stop."""
    stopped = False
    for _ in range(_NESTED):
        for opening, closing in _AROUND:
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
                text = text[len(opening) : -len(closing)].strip()
                break
        else:
            if stopped or not text.endswith("."):
                return text
            text, stopped = text[:-1].rstrip(), True
    return text


def _unlabelled(text: str) -> str:
    """What follows `x =`, `Answer:` or `4 + 5 =`, if there is such a label."""
    *labels, answer = text.split("=") if "=" in text else text.split(":")
    if not labels or not all(_is_label(label.strip(), calculated="=" in text) for label in labels):
        return text
    return _bare(answer.strip())


def _is_label(label: str, *, calculated: bool) -> bool:
    if _NAME.fullmatch(label):
        return True
    return calculated and _CALCULATION.fullmatch(label) is not None and _OPERATOR.search(label, 1) is not None


def _value(text: str) -> Fraction | None:
    sign, text = _signed(text)
    if match := _FRACTION.fullmatch(text):
        parts = match[1] or match[2], match[3] or match[4]
    elif match := _SLASH.fullmatch(text):
        parts = match[1], match[2]
    else:
        value = _decimal(_bare(text) if sign else text)
        return None if value is None else -value if sign == "-" else value
    above, below = (None if part is None else _part(_bare(part.strip())) for part in parts)
    if above is None or not below:
        return None
    return -above / below if sign == "-" else above / below


def _signed(text: str) -> tuple[str, str]:
    return (text[0], text[1:].lstrip()) if text[:1] in ("+", "-") else ("", text)


def _part(text: str) -> Fraction | None:
    """A numerator or denominator."""
    sign, text = _signed(text)
    value = _decimal(text)
    return None if value is None else -value if sign == "-" else value


def _decimal(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    digits = re.sub("[, '_]", "", parts["digits"] or "1")
    power = next((p for name, p in parts.items() if p is not None and name != "digits"), "0")
    exponent = int(power)
    whole, _, fraction = digits.partition(".")
    if len(whole) + len(fraction) + abs(exponent) > MAX_DIGITS:
        return None
    return Fraction(int(whole + fraction or "0")) * Fraction(10) ** (exponent - len(fraction))
