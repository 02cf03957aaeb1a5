"""The sample: every answer can be found in its documents, and every question needs those that it names."""

import json
from collections import Counter
from importlib.resources import files

import pytest

import gem
from gem.answers.matching import normalized

ROWS, DOCUMENTS = (
    [json.loads(line) for line in files("gem_envs_qa").joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in ("sample", "corpus")
)
TEXTS = {document["title"]: f"{document['title']}. {document['text']}" for document in DOCUMENTS}
HOSTILE = [
    "", " ", "\x00", "\ud800", "I do not know", "<answer>", "</answer>", "<answer></answer>", "\\boxed{}", "\\boxed{",
    "<answer>the</answer>", "<answer>.*</answer>", "<answer>any of them</answer>", "<answer>True</answer>",
    "<answer>['a', 'b']</answer>", "<answer>{gold}</answer>", "<answer>None</answer>", "<answer>nan</answer>",
    "<answer>10**100000000</answer>", "<answer>" + "9" * 5000 + "</answer>", "<answer>" * 5000, "\\boxed{" * 5000,
    "<answer>" + "\u0301\u0316" * 5000 + "</answer>", "<answer>" + "a" * 100_000 + "</answer>",
]  # fmt: skip
KINDS = ("fact", "two-hop", "three-hop", "comparison", "yes-no")


def says(text: str, words: str) -> bool:
    return f" {normalized(words)} " in f" {normalized(text)} "


def short(title: str) -> str:
    """A title without what tells it from another: Titan (moon)."""
    return title.partition(" (")[0]


def rows(*kinds: str) -> list[dict]:
    return [row for row in ROWS if row["kind"] in kinds]


def test_there_are_200_questions_of_five_kinds_and_no_two_are_the_same():
    counts = Counter(row["kind"] for row in ROWS)

    assert (len(ROWS), set(counts)) == (200, set(KINDS))
    assert min(counts.values()) >= 10
    assert len({normalized(row["question"]) for row in ROWS}) == len({row["id"] for row in ROWS}) == 200
    assert len(TEXTS) == len({document["id"] for document in DOCUMENTS}) == len(DOCUMENTS) >= 100


def test_every_question_names_documents_that_exist_as_many_as_its_kind_says():
    numbers = dict(zip(KINDS, (1, 2, 3, 2, 2), strict=True))

    assert [row["id"] for row in ROWS if len(row["titles"]) != numbers[row["kind"]]] == []
    assert [row["id"] for row in ROWS if not set(row["titles"]) <= TEXTS.keys()] == []


def test_the_answer_stands_in_the_last_document_and_not_in_the_question():
    asked = rows("fact", "two-hop", "three-hop")

    assert [row["id"] for row in asked if not any(says(TEXTS[row["titles"][-1]], each) for each in row["answer"])] == []
    assert [row["id"] for row in asked if any(says(row["question"], each) for each in row["answer"])] == []


def test_a_question_of_several_hops_needs_all_of_its_documents():
    wrong = []
    for row in rows("two-hop", "three-hop"):
        *earlier, last = row["titles"]
        for title, following in zip(earlier, [*earlier[1:], last], strict=True):
            named = says(TEXTS[title], short(following)) and not says(row["question"], short(following))
            early = any(says(TEXTS[title], each) for each in row["answer"])
            wrong += [] if named and not early else [(row["id"], title)]

    assert wrong == []


def test_a_comparison_names_both_things_and_its_answer_is_one_of_them():
    for row in rows("comparison"):
        names = {normalized(short(title)) for title in row["titles"]}

        assert all(says(row["question"], name) for name in names)
        assert normalized(row["answer"][0]) in names
    assert {row["answer"][0] for row in rows("yes-no")} == {"yes", "no"}


def test_the_right_answers_of_a_row_differ_and_a_third_of_the_rows_have_several():
    assert [row["id"] for row in ROWS if len({*map(normalized, row["answer"])}) < len(row["answer"])] == []
    assert sum(len(row["answer"]) > 1 for row in ROWS) > len(ROWS) / 3


def test_every_gold_is_graded_right_and_the_answers_of_other_questions_are_not():
    env = gem.make("qa:Sample")
    for index, row in enumerate(ROWS):
        others = [other["answer"][0] for other in ROWS[index + 1 :: 40]]
        for answer in [*row["answer"], *others]:
            text, _ = env.reset(options={"index": index})
            right = env.step(f"<answer>{answer}</answer>").reward

            assert right == (answer in row["answer"] or {*map(normalized, row["answer"])} >= {normalized(answer)})
        assert text.startswith(row["question"])


@pytest.mark.parametrize("score", ["exact", "f1"])
def test_hostile_replies_and_lists_of_answers_are_graded_below_the_gold_and_told_nothing(score):
    env = gem.make("qa:Sample", score=score)
    every = ", ".join(answer for row in ROWS for answer in row["answer"])
    for index in range(0, len(ROWS), 50):
        gold = ROWS[index]["answer"][0]
        for reply in [*HOSTILE, f"<answer>{every}</answer>", f"<answer>{gold} or not {gold}</answer>", gold]:
            env.reset(options={"index": index})
            step = env.step(reply)

            assert step.reward < 1
            assert step.observation in ("That is wrong.", "Your reply has no answer between <answer> and </answer>.")
            assert step.info in ({"success": False}, {"success": False, "malformed": True})
            env.reset(options={"index": index})
            assert env.step(env.expert_action()).reward == 1


@pytest.mark.parametrize("constant", ["yes", "three", "Pellmouth", "the", "0"])
def test_a_constant_answer_is_hardly_ever_right(constant):
    env = gem.make("qa:Sample")
    right = 0
    for index in range(len(ROWS)):
        env.reset(options={"index": index})
        right += env.step(f"<answer>{constant}</answer>").info["success"]

    assert right <= 12
