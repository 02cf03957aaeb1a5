"""Hostile, changed and constant answers to the graders of `rg:`; `fuzz_graders.py` tries many more."""

import json
import random

import pytest
from chosen_datasets import each_dataset
from hostile_answers import CODE, GENERIC, mutations

import gem

INTEGRALS = ("intermediate_integration", "simple_integration")
"""Graded in another process, where an answer may take seconds."""


def success(env, answer, seed=0):
    env.reset(seed=seed)
    return env.step(f"<answer>{answer}</answer>").info["success"]


def right_answer(env, seed):
    """The expert's answer to the question from `seed`, without its tags; None where it knows none."""
    env.reset(seed=seed)
    action = env.expert_action()
    return None if action is None else action.removeprefix("<answer>").removesuffix("</answer>")


@each_dataset(besides=INTEGRALS)
def test_hostile_answers_neither_run_nor_raise_nor_print_nor_win(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    env = gem.make(f"rg:{name}")
    for answer in (*CODE, *random.Random(name).sample(GENERIC, 8)):
        if success(env, answer):
            assert (name, answer) in {("polynomial_equations", ""), ("game_of_life_halting", "true")}
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("advanced_geometry", "{0}, extra"),
        ("advanced_geometry", "{0}0"),
        ("cryptarithm", "{0},{0}"),
        ("fraction_simplification", "{0}+1"),
        ("gsm_symbolic", "-{0}"),
        ("gsm_symbolic", "{0} or {0}1"),
        ("kakurasu", "not {0}"),
        ("knights_knaves", "not {0}"),
        ("letter_jumble", "{0} {0}"),
        ("polynomial_equations", "{0}, extra"),
        ("polynomial_multiplication", "({0})*1 + x - x + 1"),
        ("pool_matrix", "{0}9"),
        ("propositional_logic", "{0} ∨ a"),
        ("propositional_logic", "{0} ("),
        ("quantum_lock", "no: {0}"),
        ("rubiks_cube", "{0} 1 ?"),
        ("sokoban", "not {0}"),
        ("survo", "not {0}"),
        ("time_intervals", "{0}, extra"),
        ("tower_of_hanoi", "-{0}"),
        ("word_sorting", "{0}, extra"),
        ("countdown", "{0} + 0"),
        ("countdown", "({0})*E/E"),
        ("puzzle24", "({0})*cos(pi - pi)"),
    ],
)
def test_a_right_answer_with_something_else_is_not_right(name, change):
    env = gem.make(f"rg:{name}")
    for seed in range(2):
        right = right_answer(env, seed)
        if right is not None:
            assert success(env, right, seed)
            assert not success(env, change.format(right), seed)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("game_of_life", lambda rows: [[*row, 0] for row in rows]),
        ("game_of_life", lambda rows: [[bool(cell) for cell in row] for row in rows]),
        ("graph_color", lambda colors: {**colors, "more": 1}),
        ("graph_color", lambda colors: {vertex: color == 1 or color for vertex, color in colors.items()}),
        ("number_sorting", lambda numbers: [float("nan")] * len(numbers)),
        ("number_sorting", lambda numbers: [float(number) + 0.5 for number in numbers]),
        ("palindrome_partitioning", lambda parts: [*parts, parts[0]]),
        (
            "palindrome_partitioning",
            lambda parts: ["".join(part) if max(map(len, part)) == 1 else part for part in parts],
        ),
    ],
)
def test_a_right_list_that_was_changed_is_not_right(name, change):
    env = gem.make(f"rg:{name}")
    answer = right_answer(env, 0)
    assert answer is not None
    right = json.loads(answer.replace("'", '"'))
    assert success(env, json.dumps(right))
    assert not success(env, json.dumps(change(right)))


@pytest.mark.parametrize(
    ("name", "answer", "most"),
    [
        ("puzzle24", "6*4+1-1", 0.02),
        ("coin_flip", "0", 0),
        ("coin_flip", "0.5", 0.2),
        ("game_of_life_halting", "anything", 0),
        ("game_of_life_halting", "False", 0.9),
        ("number_sorting", "[NaN, NaN, NaN]", 0),
    ],
)
def test_a_constant_answer_wins_as_seldom_as_it_is_right(name, answer, most):
    env = gem.make(f"rg:{name}")
    assert sum(success(env, answer, seed) for seed in range(20)) <= most * 20


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("countdown", lambda right, rng: f" ( {right} ) "),
        ("coin_flip", lambda right, rng: f"{float(right):.5g}"),
        ("decimal_arithmetic", lambda right, rng: f"{right}0" if "." in right else f"{right}.0"),
        ("game_of_life", lambda right, rng: right.replace(",", ", ")),
        ("game_of_life_halting", lambda right, rng: right.lower()),
        ("gsm_symbolic", lambda right, rng: f"{float(right):,}"),
        ("gsm_symbolic", lambda right, rng: f"${right}."),
        ("quantum_lock", lambda right, rng: str(right.split(" → "))),
        ("sokoban", lambda right, rng: ", ".join(right)),
        ("survo", lambda right, rng: right.replace("\n", "\n\n")),
        ("kakurasu", lambda right, rng: right.replace(" ", "")),
        ("knights_knaves", lambda right, rng: right.lower().replace(",", "").rstrip(".")),
        ("polynomial_multiplication", lambda right, rng: " + ".join(sorted(right.replace("- ", "+ -").split(" + ")))),
        ("rubiks_cube", lambda right, rng: right + " U1000000 R4"),
        ("word_sorting", lambda right, rng: right.replace(", ", ",")),
        ("number_sorting", lambda right, rng: right.replace("'", "")),
    ],
)
def test_right_answers_in_other_words_are_right(name, write):
    env = gem.make(f"rg:{name}")
    for seed in range(2):
        right = right_answer(env, seed)
        if right is not None:
            assert success(env, write(right, random.Random(seed)), seed), write(right, random.Random(seed))


def test_a_move_that_is_not_possible_ends_rush_hour():
    env = gem.make("rg:rush_hour", max_moves=2)
    env.reset(seed=0)
    pieces = sorted(set(env.item["metadata"]["board_config"]) - set("ox"))
    moves = [f"{piece}{sign}{count}" for piece in pieces for sign in "+-" for count in range(1, 5)]
    for first in ("", *moves):
        solved = [f"{first} {way}".strip() for way in moves if success(env, f"{first} {way}")]
        if solved:
            break
    assert solved
    assert not success(env, f"A+5 A-5 {solved[0]}")
    assert not success(env, f"{solved[0]} and more")
    assert not success(env, f"Z+1 {solved[0]}")


def test_grading_leaves_the_item_as_it_was():
    env = gem.make("rg:knight_swap", impossible_ratio=0.0)
    env.reset(seed=0)
    action = env.expert_action()
    assert action is not None
    env.item["metadata"]["board_states"] = None
    before = json.dumps(env.item)
    assert env.step(action).info["success"]
    assert json.dumps(env.item) == before


def test_a_changed_answer_is_never_the_right_one():
    assert all(text.strip() != "1 2\n3 4" for text in mutations("1 2\n3 4", random.Random(0)))
