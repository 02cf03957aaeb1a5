"""Times of day, sums of quantities, groups of named values. Written for GEM."""

import pytest
from grading_tables import misjudged

from gem_envs_math.grading import grade

TIMES = r"""
right @ 20:34:00 @ 20:34   wrong @ 20:34:30 @ 20:34   right @ 20:34 @ 20:34:00   wrong @ 20:35 @ 20:34:00
right @ 08:34 \text{P.M.} @ 20:34   wrong @ 08:34 \text{A.M.} @ 20:34   right @ 20:34 @ 08:34 \text{P.M.}
right @ 3:30 PM @ 15:30   wrong @ 3:30 AM @ 15:30   right @ 3:30 p.m. @ 15:30   wrong @ 3:31 PM @ 15:30
right @ 3:30 @ 3:30 PM   wrong @ 3:30 AM @ 3:30 PM   wrong @ 3:30 @ 15:30   wrong @ 15:30 @ 3:30
right @ 3:30\text{ pm} @ 3:30 PM   wrong @ 3:00\text{ pm} @ 3:30 PM   wrong @ 15:30 @ 3:30 AM
wrong @ 15:30 PM @ 3:30 PM   right @ 12:00 AM @ 0:00   wrong @ 12:00 PM @ 0:00   right @ 12:15 PM @ 12:15
wrong @ 1:10 PM @ 3:30 PM   right @ noon @ 12:00 PM   wrong @ midnight @ 12:00 PM   right @ 3 PM @ 15:00
wrong @ 3 AM @ 15:00   right @ 3 PM @ 3:00 p.m.   wrong @ 3 PM @ 3:30 p.m.   wrong @ 1:10 @ 3:30 PM
wrong @ 1/10 @ 3:30 PM   right @ 6:15 @ 06:15   wrong @ 6:15 PM @ 06:15   wrong @ 2:5 @ 06:15   right @ 1:10 @ 3:30
right @ 3 @ 3 PM   wrong @ 4 @ 3 PM   right @ 8{:}12 @ 08:12   wrong @ 0.67 @ 08:12   right @ 6:20 @ 3:10
wrong @ 6:21 @ 3:10   right @ 2:3 @ 84:126   wrong @ 1:10 PM, 4 PM @ 3:30 PM, 4 PM   wrong @ 20:34:01 @ 20:34:00
right @ 5:00 \; \mathrm{PM} @ 5:00 PM   right @ 5:00 \textrm{ PM} @ 5:00 PM   right @ 5\!:\!00 PM @ 5:00 PM
right @ 5:00\,\text{p.m.} @ 5:00 PM   right @ 3:30 \, \text{PM} @ 3:30 PM   right @ x = 5:00 PM @ 5:00 PM
wrong @ 5:01 \; \mathrm{PM} @ 5:00 PM   wrong @ 5\!:\!00 AM @ 5:00 PM   right @ 5\colon 00 PM @ 5:00 PM
wrong @ 1/10 PM @ 3:30 PM   wrong @ 0.1 pm @ 3:30 pm   wrong @ x = 1:10 PM @ 3:30 PM   wrong @ 2:5 AM @ 6:15 AM
"""
PAIRS = ["", "Find $a:b$.", "Find $AB:BC$.", "What is $AB:CD$?"]
TRIPLES = ["", "Find a:b:c.", "What is the ratio a:b:c?"]
QUESTIONS = [
    ("What time is it?", "6:20", "3:10", False),
    ("What time is it?", "3:10 PM", "3:10", True),
    ("What is the ratio of girls to boys?", "1:10", "3:30", True),
    ("What is the ratio of girls to boys?", "1:11", "3:30", False),
    ("What time is it?", "1:10", "3:30", False),
    ("What are the odds?", "1:10 PM", "1:10", False),
    ("What time is it?", "10:15:13", "10:15:12", False),
    ("What time is it?", "10 : 15 : 12", "10:15:12", True),
    *((question, answer, "4:10", True) for question in PAIRS for answer in ("2 : 5", "2:5", "AB:BC = 4:10")),
    *((question, answer, "15:20", True) for question in PAIRS for answer in ("3:4", "3/4")),
    *((question, "4:9", "4:10", False) for question in PAIRS),
    *((question, answer, "6:10:15", True) for question in TRIPLES for answer in ("6 : 10 : 15", "6:10: 15")),
    *((question, "a:b:c=6:10:15", "6:10:15", True) for question in TRIPLES),
    *((question, "10 : 15 : 12", "10:15:12", True) for question in TRIPLES),
    *((question, "10 : 15 : 13", "10:15:12", False) for question in TRIPLES),
]
QUANTITIES = r"""
right @ 3 gal @ 1 gal + 2 gal   wrong @ 4 gal @ 1 gal + 2 gal   right @ 3 \text{ gal} @ \text{gal} + 2 \text{ gal}
right @ 150 cm @ 1 \text{ m} + 50 \text{ cm}   wrong @ 51 cm @ 1 \text{ m} + 50 \text{ cm}
wrong @ 51 \text{ m} @ 1 \text{ m} + 50 \text{ s}   wrong @ 1 \text{ m} + 50 @ 51 \text{ m}
right @ 5 ft - 2 ft @ 3 ft   wrong @ 5 ft - 2 in @ 3 ft   wrong @ 5 apples + 2 pears @ 7 apples
right @ \frac{7 \text{gal}}{2} @ 3.5 \text{gal}   wrong @ \frac{7 \text{gal}}{2} @ 3.5 \text{cm}
wrong @ \frac{7}{2 \text{gal}} @ 3.5 \text{gal}   wrong @ 2m + 50 @ 52m   right @ 5 apples + 2 apples @ 7 apples
"""
THOUSANDS = r"""
right @ \frac{1}{r^2}\left(20,000\right) @ \frac{20,000}{r^2}
wrong @ \frac{1}{r^2}\left(20,000\right) @ \frac{20}{r^2}   right @ 3(20,000) @ 60000   wrong @ 3(20,000) @ 60
right @ (20,000) @ (20,0)   wrong @ (20,000) @ 20000   right @ 2\cdot(1,000+x) @ 2000+2x   wrong @ (1,200) @ (1200,0)
wrong @ f(1,200) @ 1200f   wrong @ 3,(1,200) @ 3600
"""
GROUPS = r"""
right @ (5,2),(7,2) @ p=5,q=2;p=7,q=2   wrong @ (2,5),(2,7) @ p=5,q=2;p=7,q=2   right @ p=5,q=2;p=7,q=2 @ (5,2),(7,2)
right @ q=3,p=7;p=5,q=2 @ p=5,q=2;p=7,q=3   wrong @ p=5,q=3;p=7,q=2 @ p=5,q=2;p=7,q=3
right @ p=5 and q=2, or p=7 and q=3 @ p=5,q=2;p=7,q=3   wrong @ p=5 and q=3, or p=7 and q=2 @ p=5,q=2;p=7,q=3
right @ (q,p)=(2,5) @ (p,q)=(5,2)   wrong @ (q,p)=(5,2) @ (p,q)=(5,2)   wrong @ p=5,q=2 @ p=5,q=2;p=7,q=2
wrong @ 5,2,7,2 @ p=5,q=2;p=7,q=2   right @ x=3 or x=1, y=2 @ x=1, y=2, x=3   right @ x=1; y=2 @ (1,2)
"""
MATRICES = r"""
right @ \begin{pmatrix}1&2\\3&4\end{pmatrix}*\begin{pmatrix}0&1\\1&0\end{pmatrix}*\begin{pmatrix}a&b\\c&d\end{pmatrix} @ \left(\left[\begin{matrix}1&2\\3&4\end{matrix}\right] \left[\begin{matrix}0&1\\1&0\end{matrix}\right]\right) \left[\begin{matrix}a&b\\c&d\end{matrix}\right]
wrong @ \begin{pmatrix}0&1\\1&0\end{pmatrix}*\begin{pmatrix}1&2\\3&4\end{pmatrix}*\begin{pmatrix}a&b\\c&d\end{pmatrix} @ \left(\left[\begin{matrix}1&2\\3&4\end{matrix}\right] \left[\begin{matrix}0&1\\1&0\end{matrix}\right]\right) \left[\begin{matrix}a&b\\c&d\end{matrix}\right]
"""  # noqa: E501
TABLES = {"times": TIMES, "quantities": QUANTITIES, "thousands": THOUSANDS, "groups": GROUPS, "matrices": MATRICES}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_belongs_together_is_read_together_and_the_near_miss_is_wrong(table):
    assert not misjudged(table)


@pytest.mark.parametrize(("question", "answer", "gold", "right"), QUESTIONS)
def test_a_question_says_whether_two_numbers_are_a_time_or_a_ratio(question, answer, gold, right):
    assert grade(answer, gold, question=question).right == right
