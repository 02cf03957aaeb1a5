"""Hostile answers: each is wrong in bounded time, and the next right answer is right."""

import sys

import pytest
from hostile import HOSTILE

from gem_envs_math.grading import Verdict, grade

RIGHT = r"\int_0^3 2x \, dx"


def test_there_are_many_of_them():
    assert len(HOSTILE) == len(set(HOSTILE)) >= 60


def test_each_that_needs_no_process_is_wrong(monkeypatch):
    asked = []
    module = sys.modules["gem_envs_math.grading.grade"]  # the package has a function of that name
    monkeypatch.setattr(module, "_math_verify", lambda answer, *_: asked.append(answer) or Verdict(False, ""))

    for answer in HOSTILE:
        for gold in ("9", "3:30 PM", r"\frac{9}{1}", "x^9+1", "9, 10", "(9, 10)", r"\text{nine}", "9 cm"):
            assert not grade(answer, gold).right, answer[:50]
    assert 1 <= len(set(asked)) <= 20  # the others were decided at once


@pytest.mark.full
def test_each_is_wrong_and_the_next_right_answer_is_right():
    for answer in HOSTILE:
        assert not grade(answer, "9", seconds=0.1).right, answer[:50]
        assert grade(RIGHT, "9", seconds=60).right, answer[:50]
