"""The grader on a table of labelled pairs, which was written for GEM."""

import json
from collections import Counter
from pathlib import Path

from gem_envs_math.grading import grade

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "grading" / "pairs.jsonl").read_text().splitlines()]
KINDS = Counter(pair["kind"] for pair in PAIRS)


def wrong_verdicts():
    return [pair for pair in PAIRS if grade(pair["answer"], pair["gold"]).right != pair["right"]]


def test_the_table_has_many_right_and_wrong_answers_of_many_kinds():
    assert len(PAIRS) >= 900
    assert len(KINDS) >= 20
    assert min(KINDS.values()) >= 30
    assert len({(pair["gold"], pair["answer"]) for pair in PAIRS}) == len(PAIRS)
    for kind in KINDS:
        assert min(Counter(pair["right"] for pair in PAIRS if pair["kind"] == kind).values()) >= 10


def test_the_grader_agrees_with_the_labels_but_for_a_few():
    wrong = wrong_verdicts()

    assert len(wrong) <= len(PAIRS) // 100, wrong
    assert not [pair for pair in wrong if pair["kind"] in ("units", "percent", "money") and not pair["right"]]
    for kind, pairs in Counter(pair["kind"] for pair in wrong).items():
        assert pairs <= KINDS[kind] // 20, kind


def test_the_gold_itself_is_right_and_equality_has_no_direction():
    for pair in PAIRS:
        assert grade(pair["gold"], pair["gold"]).right
        if pair["kind"] not in ("multiple choice", "text answers", "equations"):
            assert grade(pair["gold"], pair["answer"]).right == grade(pair["answer"], pair["gold"]).right, pair
