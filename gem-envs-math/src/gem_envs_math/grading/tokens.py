r"""Tokens of an answer: LaTeX, plain text and Unicode become one notation."""

import re
import unicodedata
from typing import NamedTuple

LONGEST = 4000
"""Characters of an answer that is read; longer ones are compared as text only."""
MOST_TOKENS = 800


class Unreadable(Exception):
    """The text is not in the notation that is read here."""


class Foreign(Unreadable):
    """The text has LaTeX that is not read here, such as an integral."""


class TooLong(Unreadable):
    """The text is longer, or nested more deeply, than any answer."""


class Token(NamedTuple):
    """A piece of an answer."""

    kind: str
    """`number`, `word` (letters), `text` (what `\\text{}` has), `command` (`\\frac`), `environment`, or `sign`."""
    value: str
    spaced: bool
    """A space stands before it."""


_UNICODE = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "×": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ",
    "∙": r"\cdot ", "•": r"\cdot ", "÷": "/", "∕": "/", "⁄": "/",
    "√": r"\sqrt ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ",
    "⩽": r"\le ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
    "∖": r"\setminus ", "∅": r"\emptyset ", "°": r"\degree ", "º": r"\degree ", "±": r"\pm ", "∓": r"\mp ",
    "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}",
    "’": "'", "′": "'", "⟨": r"\langle ", "⟩": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ",
    "⌉": r"\rceil ", "∠": r"\angle ", "∧": r"\land ", "∨": r"\lor ", "∣": "|", "µ": r"\mu ", "…": r"\ldots ",
    "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ", "η": r"\eta ",
    "θ": r"\theta ", "κ": r"\kappa ", "λ": r"\lambda ", "μ": r"\mu ", "π": r"\pi ", "ρ": r"\rho ", "σ": r"\sigma ",
    "τ": r"\tau ", "φ": r"\phi ", "ϕ": r"\phi ", "ω": r"\omega ", "Δ": r"\Delta ", "Ω": r"\Omega ", "∆": r"\Delta ",
}  # fmt: skip
_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RAISED = re.compile(f"[{''.join(_SUPER)}]+")
_LOWERED = re.compile(f"[{''.join(_SUB)}]+")

_THOUSANDS = re.compile(
    r"(?<=\d)(?:\{,\}|,\\! ?|\\,|\\ |,\\,|\\!|~)(?=\d{3}(?!\d))|(?<![\d.] )(?<=\d) (?=\d{3}(?![\d/]))"
)
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z]{2})")
_SIZES = re.compile(
    r"\\(?:left|right)\s*\.|\\(?:m?left|m?right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|limits)(?![A-Za-z])"
)
_SPACES = re.compile(
    r"(?<!\\)((?:\\\\)*)\\[,;:> !\n]|~"
    r"|\\(?:quad|qquad|(?:neg)?(?:thin|med|thick)space|hfill|newline)(?![A-Za-z])|\\h?space\{[^{}]*\}"
    r"|(?<=\\\\)\[-?[\d.]+(?:pt|em|ex|mm|cm)\]"
)
_DEGREE = re.compile(r"\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\}|\\degree(?![A-Za-z])|\{\s*\\degree\s*\})")
_LABEL = re.compile(r"(?:the |my )?(?:final |correct )?answers? ?(?:(?:is|are)(?![a-z])|:|=) ?:?", re.IGNORECASE)
_AROUND = (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"))
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)

FONTS = (
    r"text|textrm|textbf|textit|textsf|textnormal|mathrm|mathbf|mathit|mathsf|mathnormal|operatorname\*?|mbox|hbox"
    r"|boldsymbol|bm|rm|bf"
)
"""Commands of LaTeX around text, as a regular expression."""
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4}(?![\w.]))?)
    |\\(?:"""
    + FONTS
    + r""")\s*\{(?P<text>(?:[^{}]|\{[^{}]*\})*)\}
    |\\(?P<environment>(?:begin|end)\s*\{[A-Za-z]+\*?\}(?:\s*\{[clr|]+\}|\s*\[[clr]+\])?)
    |(?P<command>\\(?:mathbb|mathcal|Bbb)\s*\{?[A-Z]\}?|\\[A-Za-z]+)
    |(?P<word>[A-Za-z]+)
    |(?P<sign>\\[\\{}%$|&\#_]|\*\*|<=|>=|!=|==|=<|[-+*/^_=<>(){}\[\],;:!|%$'&€£¥.])""",
    re.VERBOSE,
)  # fmt: skip

_ALIASES = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\leq": r"\le", r"\leqslant": r"\le",
    r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\div": "/", r"\lbrace": r"\{", r"\rbrace": r"\}", r"\colon": ":",
    r"\varnothing": r"\emptyset", r"\lparen": "(", r"\rparen": ")", r"\lbrack": "[", r"\rbrack": "]", r"\lt": "<",
    r"\gt": ">", r"\percent": "%", r"\dbinom": r"\binom", r"\tbinom": r"\binom", r"\wedge": r"\land", r"\vee": r"\lor",
    r"\simeq": r"\approx", r"\backslash": r"\setminus", r"\varepsilon": r"\epsilon", r"\varphi": r"\phi",
    r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\euro": "€", r"\pounds": "£", r"\yen": "¥", r"\dollar": r"\$",
    r"\prime": "'", r"\bar": r"\overline",
    r"\arctan": r"\atan", r"\arcsin": r"\asin", r"\arccos": r"\acos", r"\imath": "i", r"\to": r"\to",
    "<=": r"\le", "=<": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "=", "**": "^", r"\%": "%", r"\|": r"\|",
}  # fmt: skip


def tokens(text: str) -> list[Token]:
    r"""The tokens of `text`, without what only decorates it: dollar signs, sizes, fonts, a box, a full stop.

    >>> [token.value for token in tokens(r"$\left( \dfrac{1}{2}, 3 \right)$")]
    ['(', '\\frac', '{', '1', '}', '{', '2', '}', ',', '3', ')']

    Raises:
        Unreadable: it is too long, or has a character that has no meaning here.
    """
    if len(text) > LONGEST:
        raise TooLong("it is too long")
    found: list[Token] = []
    text = bare(text)
    position = 0
    spaced = False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(f"{text[position]!r} has no meaning")
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "space":
            spaced = True
            continue
        value = match[kind]
        if kind == "command" and len(value) > 3 and value[-1] in "}":
            value = value.replace("{", "").replace("}", "").replace(" ", "").replace(r"\Bbb", r"\mathbb")
        if alias := _ALIASES.get(value):
            value = alias
            kind = "command" if alias[0] == "\\" and alias[1:].isalpha() else "word" if alias.isalpha() else "sign"
        found.append(Token(kind, value, spaced))
        spaced = False
        if len(found) > MOST_TOKENS:
            raise TooLong("it is too long")
    return found


def bare(text: str) -> str:
    """`text` in ASCII, without what only decorates it."""
    if not text.isascii():
        text = _RAISED.sub(lambda match: "^{" + "".join(map(_SUPER.__getitem__, match[0])) + "}", text)
        text = _LOWERED.sub(lambda match: "_{" + "".join(map(_SUB.__getitem__, match[0])) + "}", text)
        text = "".join(map(_ascii, text))
    text = _undressed(text.strip())
    if "\\" in text:
        text = _single(text)
        text = _THOUSANDS.sub("", text)
        text = _SIZES.sub("", text)
        text = _DEGREE.sub(r"\\degree ", text)
        text = _SPACES.sub(r"\1 ", text)  # in the end of a row, `\\ `, the second backslash is not a space
    elif " " in text or "{" in text or "~" in text:
        text = _THOUSANDS.sub("", text)
    return _undressed(text.strip())


def _single(text: str) -> str:
    """The text with single backslashes where all are doubled, as in JSON, and without one at its end."""
    if "\\" not in text:
        return text
    if "\\\\begin" in text:
        text = text.replace("\\\\", "\\")
    elif "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    return text[:-1] if text.endswith("\\") and not text.endswith("\\\\") else text


def _undressed(text: str) -> str:
    for _ in range(4):
        before = text
        if text.startswith(("\\boxed", "\\fbox")):
            match = _BOX.fullmatch(text)
            text = match[1].strip() if match else text
        for opening, closing in _AROUND:
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
                text = text[len(opening) : -len(closing)].strip()
        if "$" in text:
            text = _without_dollars(text)
        if text[:1].isalpha() and (label := _LABEL.match(text)):
            text = text[label.end() :].strip()
        text = text.rstrip(" \n\t.,;") if text[-1:] in ".,;" and text[-2:-1] != "\\" else text
        if text == before:
            break
    return text


def _without_dollars(text: str) -> str:
    """The text without the dollar signs that begin and end formulas. One before a number is money."""
    plain = re.sub(r"\\\$", "", text)
    if plain.count("$") % 2:
        return re.sub(r"(?<!\\)\$(?=\s*[\d.])|(?<=\d)\$$", r"\\$", text, count=1)
    return re.sub(r"(?<!\\)\$", " ", text).strip()


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    if (known := _UNICODE.get(character)) is not None:
        return known
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if "\uff01" <= character <= "\uff5e":  # the full-width forms have the order of ASCII
        return chr(ord(character) - 0xFEE0)
    if character.isspace() or character == "\u200b":
        return " "
    plain = unicodedata.normalize("NFKC", character)
    if "\u2044" in plain:  # such as ½
        return r"\frac{{{}}}{{{}}}".format(*plain.split("\u2044"))
    return plain if plain.isascii() else character
