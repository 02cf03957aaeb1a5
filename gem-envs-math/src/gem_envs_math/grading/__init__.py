"""Grading answers in mathematics: `grade(answer, gold)`. The README of the pack says what is accepted."""

from gem_envs_math.grading.errors import GraderFailed
from gem_envs_math.grading.grade import Verdict, grade

__all__ = ["GraderFailed", "Verdict", "grade"]
