"""Checkers that are functions, for the tests."""


def is_anything(given, printed, expected):
    """Whether there is any output."""
    return bool(printed)
