import re
from random import Random

import pytest

from gem_envs_games.word_search import WordSearch
from gem_envs_games.word_search.grids import _each_once, make_word_search
from gem_envs_games.words import common_words, known_words

SETTINGS = [(False, 20, 5), (True, 20, 5), (None, None, None), (False, 15, 15), (True, 8, 8)]
DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def read(observation):
    """The letters of the grid, row by row, without the brackets."""
    lines = [line for line in observation.splitlines() if re.match(r"R[0-9]{2} ", line)]
    return [re.findall(r"[A-Z]", line[3:]) for line in lines]


def places(word, grid):
    """Every line of cells that spells the word, in the eight directions, each set of cells once."""
    found = set()
    for row in range(len(grid)):
        for col in range(len(grid)):
            for down, right in DIRECTIONS:
                cells = [(row + down * n, col + right * n) for n in range(len(word))]
                if all(0 <= r < len(grid) and 0 <= c < len(grid) for r, c in cells) and all(
                    grid[r][c] == letter for (r, c), letter in zip(cells, word, strict=True)
                ):
                    found.add(frozenset(cells))
    return found


def test_a_second_occurrence_of_a_word_is_found_in_every_direction():
    once = [list("CATXXXX"), *(list("XXXXXXX") for _ in range(6))]
    assert _each_once(["CAT"], ["".join(row) for row in once])
    for down, right in DIRECTIONS:
        twice = [row.copy() for row in once]
        for place, letter in enumerate("CAT"):
            twice[4 + down * place][3 + right * place] = letter
        assert not _each_once(["CAT"], ["".join(row) for row in twice])


def test_a_palindrome_occurs_once_and_one_that_overlaps_itself_twice():
    assert _each_once(["ANA"], ["ANAX", "XXXX", "XXXX", "XXXX"])
    assert not _each_once(["ANA"], ["ANANA", *["XXXXX"] * 4])


def test_grids_with_a_second_occurrence_are_not_used():
    for seed in range(60):
        rows, hidden = make_word_search(15, True, Random(seed))
        assert _each_once([place.word for place in hidden], rows)


@pytest.mark.parametrize("seeds", [2, pytest.param(20, marks=pytest.mark.full)])
@pytest.mark.parametrize(("hardcore", "turns", "words"), SETTINGS)
def test_every_word_is_in_the_grid_once_in_eight_directions_at_its_place(hardcore, turns, words, seeds):
    env = WordSearch(hardcore, turns, words)
    grids = set()
    for seed in range(seeds):
        observation, _ = env.reset(seed=seed)
        grid = read(observation)
        assert len(grid) == env.size
        assert all(len(row) == env.size for row in grid)
        assert len({place.word for place in env.hidden}) == env.num_words
        for word, row, col, down in env.hidden:
            there = {(row + n * down, col + n * (not down)) for n in range(len(word))}
            assert places(word, grid) == {frozenset(there)}
        grids.add(repr(grid))
    assert len(grids) == seeds


def test_without_the_list_no_other_known_word_of_the_same_length_can_be_read():
    known = {length: set(known_words(length)) for length in range(5, 9)}
    env = WordSearch(True, 20, 8)
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        rows = ["".join(row) for row in read(observation)]
        lines = rows + ["".join(col) for col in zip(*rows, strict=True)]
        lengths = {len(place.word) for place in env.hidden}
        readable = [
            line[at : at + n]
            for line in lines
            for n in lengths
            for at in range(env.size)
            if line[at : at + n] in known[n]
        ]
        assert sorted(readable) == [place.word for place in env.hidden]
        assert not any(place.word in observation for place in env.hidden)


@pytest.mark.parametrize("seeds", [30, pytest.param(1000, marks=pytest.mark.full)])
def test_the_words_that_are_listed_are_common_ones(seeds):
    env = WordSearch(False, 20, 5)
    for seed in range(seeds):
        observation, _ = env.reset(seed=seed)
        listed = re.search(r"^Words to find: (.+)$", observation, re.M)[1].split(", ")
        assert listed == [place.word for place in env.hidden] == sorted(listed)
        assert all(word in common_words(len(word)) for word in listed)


@pytest.mark.parametrize(("hardcore", "turns", "words"), SETTINGS)
def test_the_expert_finds_every_word_and_earns_1(hardcore, turns, words):
    env = WordSearch(hardcore, turns, words)
    for seed in range(10):
        env.reset(seed=seed)
        steps = [env.step(env.expert_action())]
        while not steps[-1].done:
            steps.append(env.step(env.expert_action()))
        assert steps[-1].info == {"success": True}
        assert len(steps) == env.num_words
        assert sum(step.reward for step in steps) == pytest.approx(1)


def test_either_end_may_come_first_and_a_found_word_earns_nothing_again():
    env = WordSearch(False, 20, 5)
    env.reset(seed=0)
    row, col, last_row, last_col = env.hidden[0].ends
    step = env.step(f"\\boxed{{{last_row}, {last_col}, {row}, {col}}}")
    assert step.reward == pytest.approx(0.2)
    assert f"you found {env.hidden[0].word}." in step.observation
    assert step.observation.count("[") == len(env.hidden[0].word)
    for ends in ((row, col, last_row, last_col), (last_row, last_col, row, col)):
        step = env.step(f"\\boxed{{{' '.join(map(str, ends))}}}")
        assert "tried that before" in step.observation
        assert step.reward == 0
    assert (env.turn, len(env.found)) == (3, 1)


def test_a_line_that_is_not_a_word_or_not_possible_uses_up_a_turn_and_says_why():
    env = WordSearch(False, 20, 5)
    env.reset(seed=0)
    for move, reason in [
        ("0 0 0 0", "not a hidden word"),
        ("0 0 0 0", "tried that before"),
        ("0 0 1 1", "one row or in one column"),
        ("-1 0 0 0", "rows and columns are 0 to"),
        ("0 0 0 999999999", "rows and columns are 0 to"),
    ]:
        step = env.step(f"\\boxed{{{move}}}")
        assert reason in step.observation
        assert (step.reward, step.done, env.found) == (0, False, [])
    assert "Lines without a hidden word: 0 0 0 0\n" in step.observation
    assert env.turn == 5


def test_a_lost_game_gives_the_words_that_were_left():
    env = WordSearch(True, 1, 1)
    env.reset(seed=0)
    step = env.step("\\boxed{0 0 0 0}")
    assert step.truncated
    assert f"The words left were: {env.hidden[0].word} at " in step.observation
