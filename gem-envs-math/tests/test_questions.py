"""`MathQuestion` and `FigureQuestion`: rows, grades, several attempts, images."""

import base64
import doctest
import json

import pytest
from small_image import png

import gem
from gem.core import Step
from gem.errors import ConfigError
from gem.testing.replies import JUNK
from gem_envs_math import golds
from gem_envs_math.figure_questions import FigureQuestion
from gem_envs_math.questions import MathQuestion

GSM8K = [{"problem": "What is 6 times 7?", "answer": "42"}]


def graded(answer, reply, **settings):
    env = MathQuestion([{"problem": "?", "answer": answer}], **settings)
    env.reset(seed=0)
    return env.step(reply)


def test_the_observation_is_the_problem_and_how_to_answer():
    question, info = MathQuestion(GSM8K).reset(seed=0)
    assert question == (
        "What is 6 times 7?\n\nYou may think first. Give the final answer inside \\boxed{}; only the last box counts."
    )
    assert info == {}
    assert MathQuestion(GSM8K, instruction=False).reset(seed=0)[0] == "What is 6 times 7?"
    assert MathQuestion(GSM8K, instruction="Box it.").reset(seed=0)[0] == "What is 6 times 7?\n\nBox it."


@pytest.mark.parametrize(
    ("answer", "reply", "reward"),
    [
        ("42", "\\boxed{41}, no: \\boxed{42}", 1.0),
        ("42", "\\boxed{42}, no: \\boxed{41}", 0.0),
        ("42", "42", 0.0),
        (42, "\\boxed{42}", 1.0),
        (42.0, "\\boxed{42}", 1.0),
        (["seven", "7"], "\\boxed{7}", 1.0),
        (["seven", "7"], "\\boxed{8}", 0.0),
    ],
)
def test_the_last_box_is_graded_against_text_a_number_or_several_answers(answer, reply, reward):
    assert graded(answer, reply).reward == reward


def test_a_step_says_whether_the_answer_is_right_and_by_which_rule():
    right, wrong = graded("42", "\\boxed{42}"), graded("42", "\\boxed{43}")
    assert right == Step.final("That is right.", 1.0, success=True, rule=right.info["rule"])
    assert wrong == Step.final("That is wrong.", 0.0, success=False, rule=wrong.info["rule"])
    assert right.info["rule"]
    assert wrong.info["rule"]


@pytest.mark.parametrize(("settings", "reward"), [({}, 0.0), ({"format_error_reward": -0.1}, -0.1)])
def test_a_reply_without_a_box_is_malformed_and_costs_what_the_env_says(settings, reward):
    for reply in ("42", "\\boxed{}", "\\boxed{ }", "\\boxed{42"):
        step = graded("42", reply, **settings)
        assert step == Step.final("Your reply has no answer inside \\boxed{}.", reward, success=False, malformed=True)


@pytest.mark.parametrize(
    ("row", "right"),
    [
        ({"question": "6 times 7?", "answer": "6 times 7 is <<6*7=42>>42.\n#### 42"}, "42"),
        ({"problem": "?", "solution": "We have $x = \\boxed{\\frac{1}{2}}$.", "level": "Level 1"}, "\\frac12"),
        ({"problem": "?", "answer": "$\\boxed{7}$"}, "7"),
        ({"problem": "?", "solution": "It is $x=\\boxed{3}$ or $x=\\boxed{\\frac{1}{2}}$ of 3."}, "1/2, 3"),
        ({"problem": "?", "solution": "\\boxed{3}, \\boxed{97} and \\boxed {4}"}, "\\{3, 4, 97\\}"),
        ({"problem": "?", "solution": "Not $\\boxed{97}$, but $\\boxed{4}$."}, "4"),
        ({"problem": "?", "solution": r"It is $\boxed{90^\circ}$ or $\boxed{\frac{\pi}{2}}$."}, r"90^\circ"),
        ({"problem": "?", "solution": r"It is $\boxed{90^\circ}$ or $\boxed{\frac{\pi}{2}}$."}, r"\pi/2"),
        ({"problem": "?", "solution": r"It is $\boxed{12\%}$ or $\boxed{0.12}$."}, "0.12"),
        ({"problem": "?", "solution": r"It is $\boxed{12\%}$ or $\boxed{0.12}$."}, r"12\%"),
        ({"problem": "?", "solution": r"\boxed{\frac12} or \boxed{0.5}"}, "1/2"),
        ({"problem": "?", "solution": r"\boxed{\frac12} or \boxed{0.5} or \boxed{3}"}, "0.5, 3"),
        ({"problem": "?", "solution": r"\boxed{\textbf{(B)}}, \boxed{7}"}, "7"),
        ({"problem": "?", "solution": r"$x=\boxed{1}$ and $y=\boxed{2}$"}, "x=1, y=2"),
        ({"problem": "?", "solution": r"$x=\boxed{1}$ and $y=\boxed{2}$"}, "y=2, x=1"),
        ({"problem": "?", "solution": r"$x=\boxed{5}$ and $y=\boxed{5}$"}, "(5, 5)"),
        ({"problem": "?", "solution": r"$x_1=\boxed{1}$ and $x_2=\boxed{2}$"}, "2, 1"),
        ({"problem": "?", "solution": r"$a=\boxed{1}$ and $e=\boxed{2}$"}, "1, 2"),
        ({"problem": "?", "solution": r"$x=\boxed{1}$, $y=\boxed{2}$ or $x=\boxed{3}$, $y=\boxed{4}$"}, "(3,4),(1,2)"),
        ({"problem": "?", "answer": "The final answer is: 7."}, "7"),
        ({"problem": "?", "answer": "['7', 'seven']"}, "7"),
        ({"problem": "?", "answer": "[1, 2]"}, "[1, 2]"),
        ({"question": "?", "final_answer": ["$2$"], "solution": ["long"]}, "2"),
        ({"prompt": "?", "ground_truth": "1,080"}, "1080"),
    ],
)
def test_golds_are_understood_as_data_sets_write_them(row, right):
    env = MathQuestion([row])
    env.reset(seed=0)
    assert env.step(f"\\boxed{{{right}}}").reward == 1.0
    env.reset(seed=0)
    assert env.step("\\boxed{97}").reward == 0.0


def test_boxes_with_different_names_have_an_order():
    assert graded(r"$x=\boxed{1}$ and $y=\boxed{2}$", r"\boxed{1, 2}").reward == 1.0
    assert graded(r"$x=\boxed{1}$ and $y=\boxed{2}$", r"\boxed{2, 1}").reward == 0.0


LONG = "Natalia sold half as many clips in May as in April, so she sold so many in May and so many in both months, " * 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "no answer"),
        (" ", "no answer"),
        ("x\n####", "nothing after"),
        (LONG, "no #### and no"),
        (", ".join(f"\\boxed{{{number}}}" for number in range(60)), "more than 50 boxes"),
        ({"a": 1}, "keys a"),
    ],
)
def test_a_gold_that_is_not_understood_is_named_when_the_table_is_opened(answer, message, tmp_path):
    rows = [{"problem": "?", "answer": "1"}, {"problem": "Who?", "answer": answer}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ConfigError, match=rf"line 2 of .*rows.jsonl: the answer to 'Who\?': .*{message}"):
        MathQuestion(str(tmp_path / "rows.jsonl")).reset(seed=0, options={"index": 0})


def test_what_counts_as_right_is_a_setting():
    assert graded("3.1416", "\\boxed{3.14}").reward == 0.0
    assert graded("3.1416", "\\boxed{3.14}", tolerance=0.01).reward == 1.0


def test_with_several_attempts_the_agent_reads_that_it_is_wrong_and_tries_again():
    env = gem.make("math:Sample", max_attempts=3)
    for index in range(0, 200, 9):
        env.reset(seed=0, options={"index": index})
        first, second = env.step("\\boxed{wrong}"), env.step("no box")
        assert first[:4] == ("That is wrong.\nTry again: you have 2 attempts left.", 0.0, False, False)
        assert "success" not in first.info
        text = "Your reply has no answer inside \\boxed{}.\nTry again: you have 1 attempt left."
        assert second[:4] == (text, 0.0, False, False)
        last = env.step(env.expert_action())
        assert (last.reward, last.terminated, last.info["success"]) == (1.0, True, True)


def test_junk_and_hostile_answers_are_graded_below_the_right_one():
    env = MathQuestion(GSM8K, max_attempts=1)
    hostile = ["10**100000000", "{" * 5_000 + "}" * 5_000, "9^" * 50 + "9", "42" * 5_000, "4\x002", "42 or 43", "42%"]
    for reply in [*JUNK.values(), *(f"\\boxed{{{answer}}}" for answer in hostile)]:
        env.reset(seed=0)
        assert env.step(reply).reward < 1.0, reply[:60]
        env.reset(seed=0)
        assert env.step(env.expert_action()).reward == 1.0


def test_the_expert_and_random_play_continue_where_a_box_cannot_hold_the_answer():
    rows = [{"problem": "?", "answer": answer} for answer in ("{1", ["{1", "2"])]
    env = MathQuestion(rows)
    experts, samples = [], set()
    for index in range(2):
        env.reset(seed=0, options={"index": index})
        experts.append(env.step(env.expert_action()).info["success"])
        env.reset(options={"index": index})
        samples |= {env.sample_action() for _ in range(20)}
    assert experts == [False, True]
    assert samples == {"\\boxed{0}", "\\boxed{2}"}


def url(content):
    return "data:image/png;base64," + base64.b64encode(content).decode()


def test_images_are_content_parts_where_the_question_names_them(tmp_path):
    (tmp_path / "figure.png").write_bytes(png(2))
    images = [png(1), {"bytes": None, "path": str(tmp_path / "figure.png")}, url(png(3))]
    row = {"problem": "<image>Compare <image> with the first.", "answer": "1", "images": images}
    question, _ = FigureQuestion([row], instruction="Box it.").reset(seed=0)
    assert question == [
        {"type": "image_url", "image_url": {"url": url(png(1))}},
        {"type": "image_url", "image_url": {"url": url(png(2))}},
        {"type": "text", "text": "Compare"},
        {"type": "image_url", "image_url": {"url": url(png(3))}},
        {"type": "text", "text": "with the first."},
        {"type": "text", "text": "Box it."},
    ]


@pytest.mark.parametrize(("images", "parts"), [(None, 1), ([], 1), (png(1), 2), ([png(1), png(2)], 3)])
def test_a_row_may_have_one_image_or_none_and_those_without_a_mark_come_first(images, parts):
    row = {"problem": "Find $x$.", "answer": "1", "images": images}
    question, _ = FigureQuestion([row], instruction=False).reset(seed=0)
    assert [part["type"] for part in question] == ["image_url"] * (parts - 1) + ["text"]


def test_the_examples_of_golds_are_true():
    assert doctest.testmod(golds).failed == 0
