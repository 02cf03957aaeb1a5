"""Grading answers in mathematics: `grade(answer, gold, rules)`. The README of the pack says what is accepted."""

from gem_envs_math.grading.errors import GraderFailed
from gem_envs_math.grading.grade import Verdict, grade
from gem_envs_math.grading.rules import Rules

__all__ = ["GraderFailed", "Rules", "Verdict", "grade"]
