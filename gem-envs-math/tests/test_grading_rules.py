"""The grader's choices, its verdicts, and junk."""

import random
import sys

import pytest

from gem_envs_math.grading import Verdict, grade


def test_each_of_several_golds_is_right_by_itself():
    assert grade("3", ["2", "3"]).right
    assert not grade("4", ["2", "3"]).right
    assert not grade("3", []).right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("1 m", "100 cm", True),
        ("10 km", "10 cm", False),
        ("10", "10 cm", True),
        ("10 centimeters", "10 cm", True),
        ("0.5", r"50\%", True),
        ("50", r"50\%", False),
        ("50.0%", r"50\%", True),
        ("3, 2", "2, 3", True),
        ("1, 2", r"\{1, 2\}", True),
        (r"\{2,1\}", r"\{1, 2\}", True),
        ("1 < x \\le 2", "(1, 2]", True),
        ("[1, 2]", "(1, 2]", False),
        ("(1, 2)", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        (r"\begin{bmatrix}1\\2\end{bmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        ("x = 3", "3", True),
        ("y = 3", "x = 3", False),
    ],
)
def test_units_percents_order_brackets_and_names(answer, gold, right):
    assert grade(answer, gold).right == right


@pytest.mark.parametrize(("answer", "gold"), [("3.14", r"\pi"), ("0.33", r"\frac13")])
def test_a_tolerance_is_a_share_of_the_gold(answer, gold):
    assert not grade(answer, gold).right
    assert grade(answer, gold, tolerance=0.01).right


@pytest.mark.parametrize(
    ("answer", "gold", "verdict"),
    [
        ("7", "7", (True, "text")),
        ("7.0", "7", (True, "number")),
        ("", "7", (False, "empty")),
        ("(B)", "B", (True, "choice")),
        ("monday", "Monday", (True, "words")),
        ("10 km", "10 cm", (False, "unit")),
        ("50", r"50\%", (False, "percent")),
        ("[1,2)", "(1,2)", (False, "brackets")),
        (r"\sqrt8", r"2\sqrt2", (True, "value")),
        ("10**100000000", "7", (False, "value")),
        ("9^{9^{9^{9}}}", r"\sqrt{7}", (False, "too large")),
        ("(" * 100 + "7" + ")" * 100, "7", (False, "too long")),
        ("7 7", "7", (False, "unreadable")),
    ],
)
def test_the_verdict_says_by_which_rule(answer, gold, verdict):
    assert grade(answer, gold) == verdict


JUNK = r"""
{ } 1 23 x ^ _ ( ) [ ] , = < % sin | ! & - + * / i e : and or million 1,000 $ cm ² ½
\frac \sqrt \text{cm} \pi \pm \cup \le \int \{ \} \\ \degree \$ \begin{pmatrix} \end{pmatrix} \in
"""


def test_junk_never_raises(monkeypatch):
    module = sys.modules["gem_envs_math.grading.grade"]  # the package has a function of that name
    monkeypatch.setattr(module, "_math_verify", lambda *_: Verdict(False, "math-verify"))
    rng = random.Random(0)
    pieces = [" ", "\0", "\ud800", *JUNK.split()]
    for _ in range(3000):
        grade("".join(rng.choices(pieces, k=rng.randrange(1, 12))), "".join(rng.choices(pieces, k=rng.randrange(1, 6))))
