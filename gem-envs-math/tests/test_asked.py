"""How an answer is read is decided by the question: percents, angles, rounding, bases."""

import json
from collections import Counter
from pathlib import Path

import pytest

from gem_envs_math.grading import grade
from gem_envs_math.grading.asked import asked_by
from gem_envs_math.questions import MathQuestion

ROWS = [
    json.loads(line) for line in (Path(__file__).parent / "grading" / "asked.jsonl").read_text("utf-8").splitlines()
]


def test_the_table_has_60_questions_that_mention_percents_with_a_sign_in_the_gold_and_without():
    kinds = Counter(row["kind"] for row in ROWS)
    assert kinds["percent"] + kinds["not percent"] == 60
    assert kinds["base"] == 26
    assert Counter("\\%" in row["gold"] for row in ROWS if row["kind"] == "percent") == {False: 20, True: 12}


@pytest.mark.parametrize("row", ROWS, ids=[row["question"][-60:] for row in ROWS])
def test_what_a_question_asks_for_decides_which_answers_are_right(row):
    env = MathQuestion([{"problem": row["question"], "answer": row["gold"]}])
    for answer in [row["gold"], *row["right"], *row["wrong"]]:
        env.reset(seed=0)
        step = env.step(f"\\boxed{{{answer}}}")
        assert step.info["success"] == (answer not in row["wrong"]), (answer, step.info)


def test_without_a_question_a_percent_is_a_hundredth():
    assert grade("0.5", r"50\%").right
    assert not grade("50", r"50\%").right
    assert not grade("0.5", r"50\%", question="What percent is that?").right


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("To the nearest tenth?", "1/10"),
        ("Give it to four decimal places.", "1/10000"),
        ("Round to 2 decimals.", "1/100"),
        ("Express it to the nearest 100th.", "1/100"),
        ("To the nearest dollar.", "1"),
        ("To the nearest ten-thousandth.", "1/10000"),
        ("To the nearest ten.", "None"),
        ("To the nearest thousand.", "None"),
        ("How far is the nearest star?", "None"),
    ],
)
def test_the_place_to_which_a_question_rounds_is_read(question, place):
    assert str(asked_by(f"How far is it? {question}").place) == place


UNITS = [
    ("How many dollars does it cost?", ["5 dollars", r"\$5", "500 cents"], ["5 cents", "500 dollars"]),
    ("What does it cost, in cents?", ["5 cents", r"\$0.05"], ["5 dollars", r"\$5"]),
    ("What does it cost? Round to the nearest cent.", ["5.00 dollars", r"\$5.00"], ["6 dollars"]),
    ("In square feet, how large is it?", ["5 ft^2", r"720\text{ square inches}"], ["5 square inches"]),
    ("How fast is it, in miles per hour?", ["5 mph", "5 miles per hour"], ["5 km/h"]),
    ("How many m of rope?", ["5 m", "500 cm"], ["5 cm"]),
    ("How many minutes are in that many hours?", ["5 minutes", "300 seconds"], ["5 hours"]),
    ("How many feet, in yards or inches?", ["5 feet", "5 inches"], ["6 feet"]),
    ("How many apples are left?", ["5 apples"], ["6 apples"]),
]


@pytest.mark.parametrize(("question", "right", "wrong"), UNITS)
def test_a_gold_without_a_unit_has_the_one_that_the_question_names(question, right, wrong):
    assert not [answer for answer in ["5", *right] if not grade(answer, "5", question=question).right]
    assert not [answer for answer in wrong if grade(answer, "5", question=question).right]


@pytest.mark.parametrize("piece", ["what ", "$", "in base ", "nearest ", "1", "[asy]", "find x% ", "as a "])
def test_a_question_of_any_length_is_read(piece):
    assert not asked_by(piece * 20_000).percent or "%" in piece
