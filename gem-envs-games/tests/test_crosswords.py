import re
from importlib.resources import files
from random import Random

import pytest

from gem_envs_games.crosswords import Crosswords
from gem_envs_games.crosswords.clues import clued_words, clues
from gem_envs_games.crosswords.grids import make_crossword

SETTINGS = [(False, 30, 3), (True, 40, 3), (None, None, None), (True, 18, 3), (False, 100, 10)]


def runs(letters):
    """Every run of two letters or more, by brute force over the whole grid: (row, col, down, word)."""
    found = set()
    for row, col in letters:
        for down in (False, True):
            step = (1, 0) if down else (0, 1)
            if (row - step[0], col - step[1]) in letters:
                continue
            word, cell = "", (row, col)
            while cell in letters:
                word += letters[cell]
                cell = cell[0] + step[0], cell[1] + step[1]
            if len(word) > 1:
                found.add((row, col, down, word))
    return found


def connected(letters):
    seen, waiting = set(), [next(iter(letters))]
    while waiting:
        row, col = waiting.pop()
        if (row, col) in letters and (row, col) not in seen:
            seen.add((row, col))
            waiting += [(row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)]
    return len(seen) == len(letters)


@pytest.mark.parametrize("seeds", [30, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize(("hardcore", "turns", "words"), SETTINGS)
def test_grids_are_crosswords_when_read_by_brute_force(hardcore, turns, words, seeds):
    env = Crosswords(hardcore, turns, words)
    puzzles = set()
    for seed in range(seeds):
        env.reset(seed=seed)
        letters = {}
        for entry in env.entries:
            for place, letter in enumerate(entry.word):
                cell = entry.row + place * entry.down, entry.col + place * (not entry.down)
                assert letters.setdefault(cell, letter) == letter
        # Nothing can be read except the entries, so no words are side by side by accident.
        assert runs(letters) == {(e.row, e.col, e.down, e.word) for e in env.entries}
        assert connected(letters)
        assert len({entry.word for entry in env.entries}) == len(env.entries) == env.num_words
        starts = sorted({(row, col) for row, col, _, _ in runs(letters)})
        assert all(entry.number == starts.index((entry.row, entry.col)) + 1 for entry in env.entries)
        assert min(row for row, _ in letters) == min(col for _, col in letters) == 0
        assert len(letters) <= env.max_turns
        puzzles.add(frozenset(letters.items()))
    assert len(puzzles) > 0.95 * seeds


@pytest.mark.parametrize(("hardcore", "turns", "words"), SETTINGS)
def test_the_board_gives_place_direction_and_length_of_every_word(hardcore, turns, words):
    env = Crosswords(hardcore, turns, words)
    for seed in range(10):
        observation, _ = env.reset(seed=seed)
        told = re.findall(
            r"^([0-9]+) (across|down), row ([0-9]+), column ([0-9]+), ([0-9]+) letters: (.+)$", observation, re.M
        )
        assert told == [
            (str(e.number), "down" if e.down else "across", str(e.row), str(e.col), str(len(e.word)),
             clues(env.hardcore)[e.word])
            for e in env.entries
        ]  # fmt: skip
        rows = [line.split()[1:] for line in observation.splitlines() if re.match(r"R[0-9]{2} ", line)]
        empty = {(row, col) for row, line in enumerate(rows) for col, symbol in enumerate(line) if symbol == "_"}
        assert empty == set(env.solution)
        assert not any(entry.word in observation for entry in env.entries)


@pytest.mark.parametrize(("hardcore", "turns", "words"), SETTINGS)
def test_the_expert_completes_every_grid_and_earns_1(hardcore, turns, words):
    env = Crosswords(hardcore, turns, words)
    for seed in range(20):
        env.reset(seed=seed)
        steps = [env.step(env.expert_action())]
        while not steps[-1].done:
            steps.append(env.step(env.expert_action()))
        assert steps[-1].info == {"success": True}
        assert sum(step.reward for step in steps) == pytest.approx(1)
        assert len(steps) == len(env.solution)


def test_a_wrong_letter_and_an_impossible_cell_use_up_a_turn_and_say_why():
    env = Crosswords(False, 30, 3)
    env.reset(seed=0)
    row, col = next(iter(env.solution))
    right = env.solution[row, col]
    wrong = "A" if right != "A" else "B"
    dot = next((r, c) for r in range(env.rows) for c in range(env.cols) if (r, c) not in env.solution)
    grid = [list(line) for line in env.grid]
    for move, reason in [
        (f"{row} {col} {wrong}", "that letter is wrong"),
        ("-1 0 A", "rows are 0 to"),
        (f"0 {env.cols} A", "columns 0 to"),
        (f"{dot[0]},{dot[1]},a", "no letter goes there"),
    ]:
        step = env.step(f"\\boxed{{{move}}}")
        assert reason in step.observation
        assert (step.reward, step.done, env.grid) == (0, False, grid)
    assert f"Wrong letters so far: {wrong} at ({row}, {col})" in step.observation
    step = env.step(f"\\boxed{{ {row}, {col}, {right.lower()} }}")
    assert step.reward == pytest.approx(1 / len(env.solution))
    assert f"{right} stands there" in env.step(f"\\boxed{{{row} {col} {right}}}").observation
    assert env.turn == 6


@pytest.mark.parametrize(
    "reply", ["", "0 0 A", "\\boxed{0 0}", "\\boxed{0 0 AB}", "\\boxed{0 0 \u00e9}", "\\boxed{\u0661 0 A}"]
)
def test_a_reply_without_a_letter_and_its_cell_costs_a_tenth_and_loses(reply):
    env = Crosswords()
    env.reset(seed=0)
    step = env.step(reply)
    assert (step.reward, step.terminated, step.info) == (-0.1, True, {"success": False, "malformed": True})


def test_a_lost_game_gives_the_words():
    env = Crosswords(False, 6, 1)
    env.reset(seed=0)
    for _ in range(6):
        step = env.step("\\boxed{-1 0 A}")
    assert step.truncated
    assert f"The words were: 1 {'down' if env.entries[0].down else 'across'} {env.entries[0].word}." in step.observation


def test_drawn_episodes_are_of_both_kinds_and_can_be_won_in_20_turns():
    env = Crosswords(None, None, None)
    kinds = set()
    for seed in range(20):
        env.reset(seed=seed)
        kinds.add(env.hardcore)
        assert (env.num_words, env.max_turns) == (3, 20)
        assert len(env.solution) <= 20
    assert kinds == {False, True}


def test_no_clue_contains_its_word_and_the_provenance_counts_the_words():
    provenance = files("gem_envs_games").joinpath("data", "CLUES.md").read_text(encoding="utf-8")
    everything = clues(False) | clues(True)
    assert len(everything) == len(clues(False)) + len(clues(True)) == len(set(everything.values()))
    for hardcore in (False, True):
        words = clued_words(hardcore)
        assert list(words) == sorted(words)
        low, high = min(map(len, words)), max(map(len, words))
        assert f"{len(words)} of {low} to {high} letters" in provenance
    for word, clue in everything.items():
        assert word.isascii()
        assert word.isalpha()
        assert word.isupper()
        assert word not in clue.upper()
        assert 3 <= len(clue) <= 80


def test_a_grid_into_which_no_further_word_fits_is_started_again():
    # Of these words, two that cross in the middle leave no place for the third.
    for seed in range(100):
        assert len(make_crossword(("SEA", "BED", "TEN", "TABLE", "STONE", "RIVER"), 3, 18, Random(seed))) == 3


def test_the_generator_keeps_its_limit_on_cells_even_where_it_is_tight():
    for seed in range(50):
        entries = make_crossword(clued_words(True), 10, 60, Random(seed))
        assert len({cell for entry in entries for cell in entry.cells}) <= 60
