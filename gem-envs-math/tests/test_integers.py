"""Which answers are integers, and which are not."""

import pytest

from gem_envs_math.integers import MAX_DIGITS, read_integer


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("0", 0),
        ("-0", 0),
        ("42", 42),
        ("007", 7),
        ("+5", 5),
        ("-5", -5),
        ("− 5", -5),
        ("  12\n", 12),
        ("1,234", 1234),
        ("-12,345,678", -12345678),
        ("1{,}234", 1234),
        ("1{,}234,567", 1234567),
        ("$7$", 7),
        ("$ -1{,}000 $", -1000),
        ("9" * 30, 10**30 - 1),
    ],
)
def test_integers_are_read(text, integer):
    assert read_integer(text) == integer


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "-", "$", "$$", "$$5$$", "$5", "5$", "--5", "+-5", "5-", "x", "x = 5", "2 + 3", "5.0", "5.", "1e3",
        "0x10", "1_000", "1 234", "12,34", "1,23", "1,2345", "1234,567", "0,123", ",123", "1,", "1,234,", "1{,}23",
        "1{}234", "1{,234", "٣", "１２", "²", "½", "\\frac{4}{2}", "five", "None", "5 apples", "\x005", "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_integer_or_could_mean_something_else_is_not_read(text):
    assert read_integer(text) is None


def test_every_integer_is_read_back_with_and_without_separators():
    for exponent in range(60):
        for number in (10**exponent - 1, 10**exponent, -(10**exponent) - 1):
            assert read_integer(str(number)) == number
            assert read_integer(f"{number:,}") == number
            assert read_integer(f"${number:,}$".replace(",", "{,}")) == number


def test_integers_are_read_up_to_a_bound():
    assert read_integer("1" * MAX_DIGITS) == int("1" * MAX_DIGITS)
    assert read_integer("1" * (MAX_DIGITS + 1)) is None
    for junk in ("1" * 100_000, "1," * 50_000, "1,000" * 20_000, " " * 100_000, "-" * 100_000, "$" * 100_000):
        assert read_integer(junk) is None
