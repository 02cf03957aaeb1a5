import random
from collections import Counter

import pytest

from gem_envs_games.game_2048 import Game2048
from gem_envs_games.game_2048.moves import merged, moved

MERGES = """
    . . . . -> . . . . ; 2 . . . -> 2 . . . ; . . . 2 -> 2 . . . ; . 2 . 4 -> 2 4 . . ; 4 . 2 . -> 4 2 . .
    2 2 . . -> 4 . . . ; 2 . . 2 -> 4 . . . ; . 2 2 . -> 4 . . . ; . 2 . 2 -> 4 . . . ; . . 2 2 -> 4 . . .
    2 4 . . -> 2 4 . . ; 2 4 2 4 -> 2 4 2 4 ; 2 4 4 2 -> 2 8 2 . ; 2 2 2 . -> 4 2 . . ; . 2 2 2 -> 4 2 . .
    2 . 2 2 -> 4 2 . . ; 2 2 . 2 -> 4 2 . . ; 2 2 2 2 -> 4 4 . . ; 4 4 4 4 -> 8 8 . . ; 2 2 4 . -> 4 4 . .
    2 2 4 4 -> 4 8 . . ; 4 4 2 2 -> 8 4 . . ; 4 2 2 . -> 4 4 . . ; 4 2 2 4 -> 4 4 4 . ; 4 . 2 2 -> 4 4 . .
    2 2 4 8 -> 4 4 8 . ; 8 4 2 2 -> 8 4 4 . ; 4 4 8 . -> 8 8 . . ; 8 4 4 . -> 8 8 . . ; 8 4 4 8 -> 8 8 8 .
    2 4 . 4 -> 2 8 . . ; 4 2 . 2 -> 4 4 . . ; 2 . 4 2 -> 2 4 2 . ; 2 4 4 4 -> 2 8 4 . ; 4 4 4 2 -> 8 4 2 .
    2 4 8 16 -> 2 4 8 16 ; 2 4 8 8 -> 2 4 16 . ; 1024 . . 1024 -> 2048 . . .
    16 16 . 32 -> 32 32 . . ; . 64 . 64 -> 128 . . .
"""
"""A line before and after a move to its front, made by hand."""


def tiles_of(text):
    return tuple(0 if word == "." else int(word) for word in text.split())


def started(board, **kwargs):
    env = Game2048(**{"target_tile": 2048, "max_turns": 1000, **kwargs})
    env.reset(seed=0)
    env.board = tiles_of(board)
    env._first = env._largest = max(env.board)
    return env


def test_a_line_merges_as_in_the_table_in_every_direction():
    for case in MERGES.replace("\n", ";").strip(" ;").split(";"):
        before, after = (tiles_of(side) for side in case.split("->"))
        assert merged(before) == after
        empty = (0,) * 12
        columns = [tuple(tile for pair in line for tile in (pair, 0, 0, 0)) for line in (before, after)]
        assert moved(before + empty, 4, "left") == after + empty
        assert moved(empty + before[::-1], 4, "right") == empty + after[::-1]
        assert moved(columns[0], 4, "up") == columns[1]
        assert moved(columns[0][::-1], 4, "down") == columns[1][::-1]


def test_of_three_equal_tiles_the_two_further_in_the_direction_of_the_move_merge():
    board = ". 2 2 2  . . . .  . . . .  . . . ."
    assert started(board).step("\\boxed{left}").observation.splitlines()[1].split()[:2] == ["4", "2"]
    assert started(board).step("\\boxed{right}").observation.splitlines()[1].split()[2:] == ["2", "4"]


def test_a_move_that_changes_nothing_uses_up_a_turn_and_brings_no_tile():
    env = started("2 4 . .  4 . . .  . . . .  . . . .")
    before = env.board
    step = env.step("\\boxed{left}")
    assert "changes nothing" in step.observation
    assert (env.board, env.turn, step.reward, step.done) == (before, 1, 0, False)


def test_a_move_that_changes_the_board_brings_one_tile_and_says_where():
    for seed in range(20):
        env = Game2048(2048, 100)
        env.reset(seed=seed)
        assert sum(tile > 0 for tile in env.board) == 2
        action = env.sample_action()
        slid = moved(env.board, 4, action[7:-1])
        step = env.step(action)
        (new,) = (cell for cell in range(16) if env.board[cell] != slid[cell])
        assert slid[new] == 0
        assert f"New: a {env.board[new]} in row {new // 4 + 1}, column {new % 4 + 1}." in step.observation


def test_new_tiles_are_2_nine_times_of_ten_and_come_up_in_every_empty_cell_alike():
    env = started(". . . . . . . . . . . . . . . 8")
    board, tiles, places = env.board, Counter(), Counter()
    for _ in range(6000):
        env.board = board
        env._add_tile()
        (cell,) = (cell for cell in range(15) if env.board[cell])
        tiles[env.board[cell]] += 1
        places[cell] += 1
    assert set(tiles) == {2, 4}
    assert tiles[2] / 6000 == pytest.approx(0.9, abs=0.02)
    assert all(count == pytest.approx(400, abs=100) for count in places.values())
    assert len(places) == 15


def test_the_target_wins_even_on_the_last_turn_and_on_a_full_board():
    env = started("1024 1024 2 4  4 2 4 2  2 4 2 4  4 2 4 2", max_turns=1)
    step = env.step("\\boxed{left}")
    assert (step.terminated, step.truncated, step.info) == (True, False, {"success": True})
    assert "You made 2048" in step.observation


def test_the_game_is_lost_when_no_move_is_left():
    # After the move the first row is 4, 8, 16 and a new 2 or 4, and no two neighbours are equal.
    step = started("2 2 8 16  16 32 64 128  8 16 32 64  4 8 16 32").step("\\boxed{left}")
    assert (step.terminated, step.info) == (True, {"success": False})
    assert "No move is left" in step.observation


def test_a_reward_is_a_share_of_the_doublings_and_counts_new_tiles_from_the_next_move_on():
    env = started("2 2 4 8  . . . .  . . . .  . . . .", target_tile=64)
    env._first = env._largest = 8
    assert env.step("\\boxed{left}").reward == 0
    env.board = tiles_of("16 16 . .  . . . .  . . . .  . . . .")
    assert env.step("\\boxed{left}").reward == pytest.approx(2 / 3)
    env = started("2 . . .  . 2 . .  . . . .  . . . .", target_tile=64)
    env.board = tiles_of("2 . . .  . 4 . .  . . . .  . . . .")
    assert env.step("\\boxed{down}").reward == pytest.approx(1 / 5)


def test_the_expert_makes_512_in_nearly_every_long_game():
    made = []
    for seed in range(3):
        env = Game2048(512, 600)
        env.reset(seed=seed)
        while not (step := env.step(env.expert_action())).done:
            pass
        made.append(step.info["success"])
    assert sum(made) >= 2


def test_a_target_above_four_times_the_turns_is_out_of_reach():
    rng = random.Random(0)
    for seed in range(20):
        env = Game2048(2048, 60)
        env.reset(seed=seed)
        while not env.step(env.expert_action() if rng.random() < 0.5 else env.sample_action()).done:
            assert sum(env.board) <= 4 * (env.turn + 2)


def test_small_and_large_boards_are_played_and_shown():
    for size in (2, 3, 5, 8):
        env = Game2048(8, 50, board_size=size)
        observation, _ = env.reset(seed=0)
        assert len(env._board().splitlines()) == size
        assert f"{size} rows and {size} columns" in observation
        while not (step := env.step(env.expert_action())).done:
            pass
        assert step.info["success"]
