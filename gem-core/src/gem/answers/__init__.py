"""Answers of an agent: finding them in a reply, reading numbers, comparing texts."""

from gem.answers.matching import exact_match, f1, normalized
from gem.answers.number import read_number
from gem.answers.parsing import boxed, fenced_code, tagged

__all__ = ["boxed", "exact_match", "f1", "fenced_code", "normalized", "read_number", "tagged"]
