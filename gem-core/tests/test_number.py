"""Numbers however they are written: equal values are equal, others are not, and nothing explodes."""

import doctest
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

from gem.answers import number
from gem.answers.number import MAX_DIGITS, read_number

VALUES = (0, 3, -7, 12, 30, 1000, -1000, 4096, -56_780, 123_456, 1_234_567, -98_765_432_100, 10**20 + 7)


def grouped(value: int, separator: str) -> str:
    return f"{value:,}".replace(",", separator)


def full_width(value: int) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in str(value))


def scientific(value: int) -> tuple[str, int]:
    """Mantissa and exponent, exactly: no zeros at the mantissa's end."""
    digits = str(abs(value)).rstrip("0") or "0"
    exponent = len(str(abs(value))) - 1
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:] or '0'}", exponent


def superscript(value: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(value))


WRITTEN: tuple[Callable[[int], str], ...] = (
    str,
    lambda v: f"{v:+}",
    lambda v: f"{v}.0",
    lambda v: f"{v}.000",
    lambda v: f"{v}.",
    lambda v: str(v).replace("-", "−"),
    lambda v: str(v).replace("-", "- "),
    lambda v: grouped(v, ","),
    lambda v: grouped(v, "{,}"),
    lambda v: grouped(v, " "),
    lambda v: grouped(v, "\u00a0"),
    lambda v: grouped(v, "\u2009"),
    lambda v: grouped(v, "\\,"),
    lambda v: grouped(v, "'"),
    lambda v: grouped(v, "_"),
    lambda v: f"{grouped(v, ',')}.00",
    full_width,
    lambda v: f"{v}e0",
    lambda v: "{}e{}".format(*scientific(v)),
    lambda v: "{}E+{}".format(*scientific(v)),
    lambda v: "{} \\times 10^{{{}}}".format(*scientific(v)),
    lambda v: "{} \\cdot 10^{{{}}}".format(*scientific(v)),
    lambda v: f"{scientific(v)[0]} × 10{superscript(scientific(v)[1])}",
    lambda v: f"\\frac{{{2 * v}}}{{2}}",
    lambda v: f"\\dfrac{{{v}}}{{1}}",
    lambda v: f"\\frac{{{-3 * v}}}{{-3}}",
    lambda v: f"{2 * v}/2",
    lambda v: f"\\tfrac{{ {5 * v} }}{{ 5 }}",
)
AROUND = (
    "{}", "({})", "${}$", "\\({}\\)", "\\text{{{}}}", "x = {}", "$x = {}$.", "\\left({}\\right)", " {} ", "**{}**",
    "\\mathbf{{{}}}", "Answer: {}", "\\text{{Answer}} = {}", "4 \\times 5 + 1 = {}", "{{{}}}", "$$\n{}\n$$",
)  # fmt: skip


def spellings(values: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    """Every way of writing each value, each with one or two things around it."""
    for place, (value, written) in enumerate(product(values, WRITTEN)):
        for around in (AROUND[0], AROUND[place % len(AROUND)], AROUND[(7 * place + 3) % len(AROUND)]):
            yield around.format(written(value)), value


RIGHT = sorted(set(spellings(VALUES)))


def test_there_are_more_than_500_right_spellings_and_all_are_read() -> None:
    assert len(RIGHT) > 500
    assert [text for text, value in RIGHT if read_number(text) != value] == []


def test_no_other_value_is_read_as_one_of_these_however_it_is_written() -> None:
    wrong = [(text, value, other) for text, value in RIGHT for other in (value + 1, -value, 10 * value, value - 1000)]
    wrong = [(text, value, other) for text, value, other in wrong if value != other]
    assert len(wrong) > 500
    assert [(text, other) for text, _, other in wrong if read_number(text) == other] == []


@pytest.mark.parametrize(
    "text",
    [
        # Nothing, or not a number.
        "", " ", "-", "+", ".", "$", "$$", "()", "{}", "x", "five", "None", "nan", "inf", "\\infty", "\x005", "\ud800",
        # Broken.
        "$5", "5$", "--5", "+-5", "5-", "5..", "(5", "5)", "1e", "e3", "1e3.5", "10^", "\\frac{1}", "\\frac{1}{", "1/",
        # What could be something else.
        "12 34", "1 23", "12,34", "1,23", "1,2345", "1234,567", "0,123", ",123", "1,", "1,234,", "1{,}23", "1{}234",
        "1.000.000", "1,000 000", "1.000,5", "3, 4", "3 4", "[3]", "3:4", "3 or 4", "±3", "~3", "\\approx 3", "x ≈ 3",
        "x < 3", "x \\le 3", "x != 3", "x \\neq 3", "3 = 4", "3 = 3", "4 = x", "\\sim 3",
        # What would have to be worked out, and units.
        "2 + 3", "2 * 3", "2^3", "5²", "\\sqrt{9}", "3!", "1/2/3", "-(-3)", "1 \\frac{1}{2}", "½", "0x10", "0b1", "III",
        "3%", "3\\%", "\\$3", "5 apples", "5\\text{ cm}", "5^\\circ",
        # Without value, or without end.
        "1/0", "\\frac{1}{0}", "0/0", "1e1001", "1e-1001", "1e9999", "1e9999999", "1e-9999999", "10^{9999999}",
        "9" * (MAX_DIGITS + 1), "0." + "9" * MAX_DIGITS,
    ],
)  # fmt: skip
def test_an_ambiguous_text_is_not_read_as_a_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.000", 1),
        ("3.141", Fraction(3141, 1000)),
        (".5", Fraction(1, 2)),
        ("1,234.5", Fraction(12345, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("10^-2", Fraction(1, 100)),
        ("1/3", Fraction(1, 3)),
        ("-\\frac{1}{3}", Fraction(-1, 3)),
        ("\\frac12", Fraction(1, 2)),
        ("-(7)", -7),
        ("007", 7),
        ("-0", 0),
        ("٣", 3),
        ("1 + 1 + 2 = 2 + 2 = 4", 4),
        ("9" * MAX_DIGITS, 10**MAX_DIGITS - 1),
    ],
)
def test_a_point_is_the_decimal_point_and_values_are_exact(text: str, value: Fraction | int) -> None:
    assert read_number(text) == value


PIECES = [
    "9",
    "1,",
    "1 ",
    "1.1.",
    "(",
    ")",
    "{",
    "$",
    "**",
    "x =",
    "=",
    ":",
    "\\text{",
    "\\frac{",
    "/",
    "1+",
    "1*",
    "(1",
]
PIECES += ["²", "−", " ", "\\,", "~", "a ", "\\left", "10^", "-", ".", "1e", "`", "𝟏", "\\boldsymbol{\\text{"]


@pytest.mark.parametrize("piece", PIECES)
def test_any_text_is_read_in_little_time(piece: str) -> None:
    # Steps that grow faster than the length to the power of two would not end here.
    for length in (4_900, 100_000):
        for end in ("", "=3", "x", "}"):
            read_number(piece * (length // len(piece)) + end)
            read_number("1+(" + piece * (length // len(piece)) + end)


def test_the_examples_in_the_docstring_are_true() -> None:
    assert doctest.testmod(number).failed == 0
