"""Letters behind numbers: units and variables, products and words. Written for GEM."""

import pytest
from grading_tables import misjudged

from gem_envs_math.grading import grade

SPELLINGS = r"""
3+2m @ 2 m + 3 @ 2m+3 @ m \cdot 2 + 3 @ 3 + 2 m
h\pi @ \pi h @ \pi\cdot h @ h \pi @ \pi \, h
\sqrt{2gh} @ \sqrt{2 g h} @ \sqrt{2 h g} @ \sqrt{2 \cdot g \cdot h} @ (2gh)^{1/2}
\frac{V}{\pi h} @ \frac{V}{\pi \cdot h} @ V/(\pi h) @ \frac{V}{h \pi} @ \frac{1}{\pi h} V
\sqrt{\frac{V}{\pi h}} @ \left(\frac{V}{\pi h}\right)^{\frac12} @ \sqrt{\frac{V}{\pi \times h}} @ \sqrt{V/(\pi h)} @ \frac{\sqrt V}{\sqrt{\pi h}}
2s @ 2 s @ s \cdot 2 @ s+s @ 2 \, s
mgh @ m g h @ hgm @ m \cdot g \cdot h @ g m h
\frac{1}{2} m v^2 @ \frac{m v^2}{2} @ 0.5 m v^2 @ \frac12 mv^2 @ m v^2 / 2
3L+1 @ 1 + 3 L @ 3 L + 1 @ L\cdot 3 + 1 @ 1+3L
2N @ 2 N @ N \cdot 2 @ N + N @ 2\,N
\frac{A}{2} @ \frac12 A @ \frac{1}{2} A @ A / 2 @ 0.5 A
5K-J @ 5 K - J @ -J+5K @ -J + 5 K @ 5\cdot K - J
2\pi r h @ 2 \pi r h @ 2 h \pi r @ 2\pi rh @ 2 \pi h r
\frac{W}{s} @ W/s @ \frac{1}{s} W @ W \cdot s^{-1} @ W s^{-1}
4l @ 4 l @ 2l + 2 l @ l\cdot 4 @ 4 \, l
\frac{m-1}{2} @ \frac{1}{2} (m - 1) @ \frac12 m - \frac12 @ 0.5 m - 0.5 @ (m-1)/2
2\sqrt{3} s @ 2 s \sqrt{3} @ s\sqrt{12} @ 2\sqrt3 s @ \sqrt{12} s
\pi s^2 @ s^2\pi @ \pi s s @ \pi \cdot s^2 @ s^2 \pi
10 - 3 t s @ 10-3ts @ 10-3 s t @ -3st+10 @ 10 - 3 t \cdot s
V = I R @ V = IR @ V = R I @ I R = V @ V=I\cdot R
"""  # noqa: E501
BEAD = (
    "A bead of mass $m$ slides down a wire of height $h$ and length $l$, with $s$, $L$, $N$, $A$, $K$, $J$, $V$ and "
    "$W$ given. The wire weighs 5 kg and is 30 cm long. What holds after 3 seconds?"
)
SIMPLIFY, SIDE = "Simplify $5m - 3m$.", "The side is $s$ cm."
UNITS = r"""
right @ 10 m @ 10\text{ m}        right @ 10m @ 10\text{ m}         right @ 1000 cm @ 10 m
right @ 10 @ 10 m                 wrong @ 10 s @ 10 m               wrong @ 10 m @ 10
right @ 5 h @ 5 hours             right @ 9.8 m/s^2 @ 9.8\text{ m/s}^2   wrong @ 9.8 m/s @ 9.8 m/s^2
right @ 2 m @ 2m                  wrong @ 2 @ 2m                    wrong @ \pi @ \pi h
wrong @ h @ h\pi                  wrong @ 3 @ 3+2m                  right @ 5 kg @ 5
right @ 5\pi m @ 5\pi\text{ m}    right @ 3, 4 @ 3\text{ m}, 4\text{ m}  right @ x = 5 m @ 5\text{ m}
right @ 6\,\mathrm{N} @ 6 N       right @ 1.5\times10^3 m @ 1.5 km  right @ 1 1/2 h @ 90 minutes
"""
ASKED = [
    ("10 m", "10", "How many meters does it fall in 3 s?", True),
    ("10m", "10", "How far, in meters, does it go?", True),
    ("10 s", "10", "How long is the rope, in cm?", False),
    ("12 V", "12", "What is the voltage in volts?", True),
    ("2", "2 m", SIMPLIFY, False),
    ("2m", "2 m", SIMPLIFY, True),
    ("2 m", "2", SIMPLIFY, False),
    ("2 s", "2s", SIDE, True),
    ("2", "2 s", SIDE, False),
    ("4 m", "4", "How many m of rope does he buy?", True),
    ("4 s", "4", "How many m of rope does he buy?", False),
    ("4 m", "4", "How long is the rope, in m?", True),
    ("4 m", "4", "How many $m$ are there?", False),
    ("4 m", "4", "A rope costs $5 per m, and he has $20. How many m of it can he buy?", True),
    ("400 cm", "4 m", "A rope costs $5-$6 per m (for $x$ buyers), and he has $20. How many m of it?", True),
    ("4 m", "4", "A rope costs $.5 per m, and he has $20.50. How many m of it?", True),
    ("4 m", "4", "A rope costs $5 per day. Its length is $2m$. How many m is it?", False),
    ("400 cm", "4 m", r"A rope costs \$5 per m, and he has \$20. How many m of it can he buy?", True),
]
PRODUCTS = r"""
right @ hgm @ mgh      wrong @ mgv @ mgh      right @ abc @ cab      right @ a b x @ abx       right @ zyx @ xyz
right @ a^2b @ aba     wrong @ silent @ listen   wrong @ dog @ god   right @ 2 mgh @ 2hgm      right @ bcd @ dcb
right @ \frac{mgh}{2} @ \frac{1}{2}hgm   right @ 3 apples @ 3   wrong @ abd @ abc   wrong @ mgh @ mg+h
"""


def spellings():
    for line in SPELLINGS.strip().split("\n"):
        gold, *others = line.split(" @ ")
        yield from ((gold, other) for other in others)


@pytest.mark.parametrize("question", ["", BEAD])
def test_letters_of_units_are_variables_in_a_formula(question):
    assert len(list(spellings())) == 80
    assert not [pair for pair in spellings() if not grade(*pair, question=question).right]
    assert not [pair for pair in spellings() if not grade(*pair[::-1], question=question).right]


def test_a_letter_behind_a_number_is_a_unit_if_the_gold_has_units():
    assert not misjudged(UNITS)


@pytest.mark.parametrize(("answer", "gold", "question", "right"), ASKED)
def test_a_letter_is_a_unit_that_the_question_names_unless_it_is_a_variable_there(answer, gold, question, right):
    assert grade(answer, gold, question=question).right == right


def test_three_letters_are_a_product_if_they_are_no_word():
    assert not misjudged(PRODUCTS)
