import random
import re

import pytest

from gem_envs_games.minesweeper import Minesweeper


def started(mines=(), rows=4, cols=4, **kwargs):
    """A game whose mines are in the given (row, column) cells; without any they are placed as usual."""
    env = Minesweeper(**{"rows": rows, "cols": cols, "num_mines": len(mines) or 1, "max_turns": 100, **kwargs})
    env.reset(seed=0)
    env.mines = frozenset(row * cols + col for row, col in mines)
    return env


def grid_of(step):
    """The board of an observation, as rows of symbols."""
    # The heading has more spaces in front than a row's number has.
    rows = re.findall(r"^ {1,2}[0-9]+ ([ .F*0-8]+)$", step.observation, re.MULTILINE)
    return [row.replace(" ", "") for row in rows]


def flood(rows, cols, mines, flags, start):
    """What a reveal of `start` shows, by its definition: grow the set until nothing follows from it any more."""

    def beside(a, b):
        return a != b and abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1

    cells = [(row, col) for row in range(rows) for col in range(cols)]
    numbers = {cell: sum(beside(cell, mine) for mine in mines) for cell in cells}
    shown = {start}
    while True:
        more = {c for c in cells if c not in flags and any(numbers[s] == 0 and beside(c, s) for s in shown)}
        if more <= shown:
            return {cell: numbers[cell] for cell in shown}
        shown |= more


def test_a_reveal_floods_as_its_definition_says_on_random_boards_with_random_flags():
    rng = random.Random(0)
    for _ in range(100):
        rows, cols = rng.randint(2, 7), rng.randint(2, 7)
        cells = [(row, col) for row in range(rows) for col in range(cols)]
        mines = rng.sample(cells, rng.randint(1, max(1, len(cells) // 5)))
        flags = rng.sample(cells, rng.randint(0, 3))
        start = rng.choice([cell for cell in cells if cell not in mines])
        flags = [flag for flag in flags if flag != start]
        env = started(mines, rows, cols)
        for row, col in flags:
            env.step(f"\\boxed{{flag {row} {col}}}")
        step = env.step(f"\\boxed{{reveal {start[0]} {start[1]}}}")
        expected = flood(rows, cols, mines, flags, start)
        want = [
            "".join(str(expected.get((r, c), "F" if (r, c) in flags else ".")) for c in range(cols))
            for r in range(rows)
        ]
        assert grid_of(step) == want
        assert step.reward == pytest.approx(len(expected) / (len(cells) - len(mines)))
        assert step.terminated == (len(expected) == len(cells) - len(mines))


def test_the_game_is_won_by_revealing_every_safe_cell_without_a_flag():
    env = started([(0, 0)], 2, 2)
    steps = [env.step(f"\\boxed{{reveal {cell}}}") for cell in ("0 1", "1 0", "1 1")]
    assert steps[-1].info == {"success": True}
    assert [step.reward for step in steps] == pytest.approx([1 / 3] * 3)


def test_a_game_with_a_wrong_flag_can_be_won_once_it_is_taken_off():
    env = started([(0, 0)], 4, 4)
    env.step("\\boxed{flag 0 1}")
    assert not env.step("\\boxed{reveal 3 3}").done
    env.step("\\boxed{flag 0 1}")
    assert env.step("\\boxed{reveal 0 1}").info == {"success": True}


def test_a_mine_loses_and_is_shown():
    step = started([(0, 0), (1, 1)], 2, 3).step("\\boxed{reveal 0 0}")
    assert (step.reward, step.terminated, step.info) == (0, True, {"success": False})
    assert grid_of(step) == ["*..", ".*."]


@pytest.mark.parametrize(
    ("before", "move", "reason"),
    [
        (["reveal 1 1"], "reveal 1 1", "already revealed"),
        (["reveal 1 1"], "flag 1 1", "already revealed"),
        (["flag 0 0"], "reveal 0 0", "has a flag"),
        (["flag 1 1"], "reveal 1 1", "has a flag"),
        ([], "reveal 4 0", "not on the board"),
        ([], "reveal 0 -1", "not on the board"),
        ([], "flag 999999999 0", "not on the board"),
        ([], "dig 1 1", "'dig' is no command"),
    ],
)
def test_a_move_that_is_not_possible_uses_up_a_turn_changes_nothing_and_says_exactly_why(before, move, reason):
    # The mine is under the flag of (0, 0): the flag is looked at first.
    env = started([(0, 0)])
    for earlier in before:
        env.step(f"\\boxed{{{earlier}}}")
    board = env._board()
    step = env.step(f"\\boxed{{{move}}}")
    assert reason in step.observation
    assert not step.done
    assert step.reward == 0
    assert env.turn == len(before) + 1
    assert env._board() == board


@pytest.mark.parametrize("reply", ["reveal 1 2", "REVEAL 1 2", "Reveal, 1, 2", " reveal 1,2 ", "reveal  01   2"])
def test_case_commas_and_spaces_do_not_matter(reply):
    assert "reveal the cell in row 1, column 2" in started([(0, 0)]).step(f"\\boxed{{{reply}}}").observation


def test_a_flag_goes_on_and_off_and_is_seen():
    env = started([(0, 0)], 2, 2)
    on = env.step("\\boxed{flag 0 1}")
    assert "the flag is on" in on.observation
    assert grid_of(on) == [".F", ".."]
    off = env.step("\\boxed{flag 0 1}")
    assert "the flag is off" in off.observation
    assert grid_of(off) == ["..", ".."]


@pytest.mark.parametrize(("rows", "cols", "num_mines"), [(5, 5, 5), (5, 5, 16), (8, 8, 12), (4, 2, 2), (30, 30, 200)])
def test_with_room_for_it_the_first_reveal_and_all_around_it_are_safe(rows, cols, num_mines):
    env = Minesweeper(rows, cols, num_mines, 10)
    for seed in range(30):
        observation, _ = env.reset(seed=seed)
        assert "that cell and all around it are safe" in observation
        row, col = seed % rows, seed * 7 % cols
        env.step(f"\\boxed{{reveal {row} {col}}}")
        assert env.visible[row * cols + col] == 0
        assert len(env.mines) == num_mines


@pytest.mark.parametrize(("rows", "cols", "num_mines"), [(5, 5, 17), (5, 5, 24), (2, 2, 3), (2, 2, 1), (3, 3, 5)])
def test_without_room_for_it_the_rules_promise_only_the_first_cell(rows, cols, num_mines):
    env = Minesweeper(rows, cols, num_mines, 10)
    for seed in range(30):
        observation, _ = env.reset(seed=seed)
        assert "that cell is safe, those around it may not be" in observation
        step = env.step(f"\\boxed{{reveal {seed % rows} {seed % cols}}}")
        assert step.reward > 0
        assert len(env.mines) == num_mines


def test_flags_and_refused_moves_before_the_first_reveal_do_not_move_the_mines():
    plain, marked = Minesweeper(8, 8, 12, 64), Minesweeper(8, 8, 12, 64)
    plain.reset(seed=1)
    marked.reset(seed=1)
    for action in ("flag 0 0", "flag 0 0", "reveal 9 9", "flag 7 7"):
        marked.step(f"\\boxed{{{action}}}")
    plain.step("\\boxed{reveal 4 4}")
    marked.step("\\boxed{reveal 4 4}")
    assert plain.mines == marked.mines


def test_the_expert_takes_a_flag_off_before_it_reveals_the_cell():
    env = Minesweeper(5, 5, 5, 80)
    env.reset(seed=0)
    for row in range(5):
        for col in range(5):
            env.step(f"\\boxed{{flag {row} {col}}}")
    while not (step := env.step(env.expert_action())).done:
        assert "take the flag off first" not in step.observation
    assert step.terminated


def test_the_expert_sees_no_more_than_the_player():
    env = Minesweeper(8, 8, 12, 64)
    env.reset(seed=0)
    step = env.step(env.expert_action())
    while not step.done:
        action = env.expert_action()
        mines, env.mines = env.mines, frozenset({0})
        assert env.expert_action() == action
        env.mines = mines
        step = env.step(action)
