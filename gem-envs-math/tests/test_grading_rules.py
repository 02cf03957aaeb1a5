"""The settings of the grader."""

import json
import random
import sys

import pytest

from gem.errors import ConfigError
from gem_envs_math.grading import Rules, Verdict, grade
from gem_envs_math.grading.rules import _CHOICES


def test_rules_are_plain_data_and_come_back_from_json():
    rules = Rules(units="needed", tolerance=0.01)

    assert Rules.of(json.loads(json.dumps(rules.settings()))) == rules
    assert Rules.of(None) == Rules.of({}) == Rules()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unit": "same"}, "'unit' is not a rule of grading. Did you mean 'units'?"),
        ({"units": "any"}, "units is one of 'equal', 'same', 'needed', 'ignore', not 'any'"),
        ({"tolerance": -1}, "tolerance is at least 0 and less than 1"),
        ({"tolerance": "1"}, "tolerance is a finite number"),
        ({"seconds": 0}, "seconds is more than 0"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        Rules.of(settings)


def test_each_of_several_golds_is_right_by_itself():
    assert grade("3", ["2", "3"]).right
    assert not grade("4", ["2", "3"]).right
    assert not grade("3", []).right


@pytest.mark.parametrize(
    ("setting", "answer", "gold", "right_with"),
    [
        ("units", "1 m", "100 cm", ["equal"]),
        ("units", "10 km", "10 cm", ["ignore"]),
        ("units", "10", "10 cm", ["equal", "same", "ignore"]),
        ("units", "10 centimeters", "10 cm", ["equal", "same", "needed", "ignore"]),
        ("percent", "0.5", r"50\%", ["value"]),
        ("percent", "50", r"50\%", ["ignore"]),
        ("percent", "50.0%", r"50\%", ["value", "written", "ignore"]),
        ("several", "3, 2", "2, 3", ["any order"]),
        ("several", "2,3", "2, 3", ["any order", "in order"]),
        ("sets", "1, 2", r"\{1, 2\}", ["braces optional"]),
        ("sets", r"\{2,1\}", r"\{1, 2\}", ["braces optional", "written"]),
        ("intervals", "1 < x \\le 2", "(1, 2]", ["either"]),
        ("intervals", "[1, 2]", "(1, 2]", []),
        ("matrices", "(1, 2)", r"\begin{pmatrix}1\\2\end{pmatrix}", ["vectors"]),
        ("matrices", r"\begin{bmatrix}1\\2\end{bmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", ["written", "vectors"]),
        ("equations", "x = 3", "3", ["name optional"]),
        ("equations", "y = 3", "x = 3", []),
        ("tolerance", "3.14", r"\pi", [0.01]),
        ("tolerance", "0.33", r"\frac13", [0.01]),
    ],
)
def test_each_setting_does_what_it_says(setting, answer, gold, right_with):
    for choice in (0.0, 0.01) if setting == "tolerance" else _CHOICES[setting]:
        assert grade(answer, gold, Rules.of({setting: choice})).right == (choice in right_with), choice


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
