"""`math:Sample`: every answer is what an independent computation says, and is graded as right."""

import re
from collections import defaultdict

import pytest
import sample_forms
import sample_numbers
from sample_notations import NOTATIONS
from sample_values import agrees

import gem
from gem.answers.parsing import boxed
from gem.data import open_table

ROWS = list(open_table("gem_envs_math:sample.jsonl"))
CHECKS = {**sample_numbers.CHECKS, **sample_forms.CHECKS}
KINDS = defaultdict(list)
for row in ROWS:
    KINDS[row["kind"]].append(row)
QUICK = [kind for kind, rows in KINDS.items() if rows[0]["id"] in sample_numbers.CHECKS]
SLOW = [kind for kind in KINDS if kind not in QUICK]


@pytest.mark.parametrize("kind", [*QUICK, *(pytest.param(kind, marks=pytest.mark.full) for kind in SLOW)])
def test_the_answers_are_what_a_computation_says(kind):
    for row in KINDS[kind]:
        assert agrees(row["answer"], CHECKS[row["id"]]()), row["id"]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_the_computation_finds_another_answer_of_the_kind_wrong(kind):
    for row, other in zip(KINDS[kind], [*KINDS[kind][1:], KINDS[kind][0]], strict=True):
        assert row["answer"] == other["answer"] or not agrees(other["answer"], CHECKS[row["id"]]()), row["id"]


def test_there_are_at_least_200_questions_of_at_least_15_kinds_and_five_difficulties():
    assert len(ROWS) >= 200
    assert len({row["id"] for row in ROWS}) == len({row["problem"] for row in ROWS}) == len(ROWS) == len(CHECKS)
    assert {tuple(row) for row in ROWS} == {("id", "kind", "topic", "difficulty", "problem", "answer")}
    assert len(KINDS) >= 15
    assert {row["difficulty"] for row in ROWS} == {1, 2, 3, 4, 5}


def test_the_expert_is_right_and_the_answer_stands_in_no_observation_and_info():
    env = gem.make("math:Sample", instruction=False)
    for index, row in enumerate(ROWS):
        question, info = env.reset(seed=index, options={"index": index})
        assert (question, info) == (row["problem"], {})
        assert boxed(env.expert_action()) == row["answer"]
        step = env.step(env.expert_action())
        assert (step.reward, step.observation, step.info["success"]) == (1.0, "That is right.", True), row["id"]
        assert set(step.info) == {"success", "rule"}


@pytest.mark.full  # math-verify looks at what is not decided quickly
def test_the_answer_to_another_question_of_the_kind_is_wrong():
    env = gem.make("math:Sample")
    for index, row in enumerate(ROWS):
        other = next(each["answer"] for each in KINDS[row["kind"]] if each["answer"] != row["answer"])
        env.reset(seed=index, options={"index": index})
        step = env.step(f"\\boxed{{{other}}}")
        assert (step.reward, step.observation) == (0.0, "That is wrong."), row["id"]


@pytest.mark.parametrize("id", NOTATIONS)
def test_another_notation_of_the_answer_is_right_and_what_looks_like_it_is_wrong(id):
    env = gem.make("math:Sample")
    index = next(index for index, row in enumerate(ROWS) if row["id"] == id)
    right, wrong = NOTATIONS[id]
    for answer in [*right, *wrong]:
        env.reset(seed=0, options={"index": index})
        step = env.step(f"\\boxed{{{answer}}}")
        assert step.info["success"] == (answer in right), (answer, ROWS[index]["answer"], step.info)


@pytest.mark.parametrize("junk", ["\\emptyset", "A, B, C, D", "yes or no", "\\mathbb{R}"])
def test_junk_is_right_for_no_question(junk):
    env = gem.make("math:Sample")
    for index, row in enumerate(ROWS):
        env.reset(seed=0, options={"index": index})
        assert not env.step(f"\\boxed{{{junk}}}").info["success"], row["id"]


@pytest.mark.full  # math-verify looks at what is not decided quickly
def test_what_stands_in_the_question_is_not_right_unless_it_is_the_answer():
    env = gem.make("math:Sample")
    for index, row in enumerate(ROWS):
        problem = row["problem"].replace("\\$", "")
        stands = [*re.findall(r"\$(.+?)\$", problem), *re.findall(r"(?<![\w.\\-])[0-9][0-9.:]*[0-9]|[0-9]", problem)]
        for answer in {part.strip().rstrip(".") for part in stands} - {row["answer"]}:
            env.reset(seed=index, options={"index": index})
            step = env.step(f"\\boxed{{{answer}}}")
            # An axis at x = 4 may be given as 4.
            assert not step.info["success"] or row["answer"] == f"x={answer}", (row["id"], answer)
