from collections import Counter, deque
from itertools import permutations

import pytest

import gem
from gem_envs_games.fifteen_puzzle import FifteenPuzzle
from gem_envs_games.fifteen_puzzle.solver import lower_bound, solve, solved

GO = {"up": (1, 0), "down": (-1, 0), "left": (0, 1), "right": (0, -1)}
"""Where the empty cell goes when a tile slides in a direction: the other way."""


def neighbours(board, size):
    """Each direction that is possible on a flat board, and the board after it."""
    row, col = divmod(board.index(0), size)
    for name, (down, right) in GO.items():
        if 0 <= row + down < size and 0 <= col + right < size:
            tiles, other = list(board), (row + down) * size + col + right
            tiles[row * size + col], tiles[other] = tiles[other], 0
            yield name, tuple(tiles)


def distances(size, most=10**9):
    """Fewest moves to the solved board from every board that has at most `most`, by breadth-first search."""
    found, queue = {solved(size): 0}, deque([solved(size)])
    while queue:
        board = queue.popleft()
        if found[board] < most:
            for _, other in neighbours(board, size):
                if other not in found:
                    found[other] = found[board] + 1
                    queue.append(other)
    return found


def is_solvable(board, size):
    """By parity: each move swaps the empty cell with a tile and takes it one cell further."""
    inversions = sum(a > b for i, a in enumerate(board) for b in board[i + 1 :] if a and b)
    if size % 2:
        return inversions % 2 == 0
    return (inversions + size - 1 - board.index(0) // size) % 2 == 0


def started(board, size, **kwargs):
    env = FifteenPuzzle(**{"num_rows": size, "max_turns": 1000, **kwargs})
    env.reset(seed=0)
    env.board = board
    return env


def test_the_parity_rule_agrees_with_a_search_of_all_small_boards():
    reached = distances(2)
    assert {board for board in permutations(range(4)) if is_solvable(board, 2)} == set(reached)


@pytest.mark.parametrize(("size", "turns"), [(2, 10), (3, 20), (4, 50), (5, 100)])
def test_boards_are_solvable_within_the_turns_varied_and_never_solved(size, turns):
    env = FifteenPuzzle(turns, size)
    boards = set()
    for seed in range(100):
        env.reset(seed=seed)
        assert is_solvable(env.board, size)
        assert env.board != solved(size)
        boards.add(env.board)
        if size < 4 or (size == 4 and seed % 10 == 0):
            while not (step := env.step(env.expert_action())).done:
                pass
            assert step.info["success"]
    assert len(boards) >= (9 if size == 2 else 95)


@pytest.mark.parametrize(("size", "scramble"), [(2, 1), (2, 12), (3, 1), (3, 6), (4, 8)])
def test_no_board_is_further_from_the_solution_than_its_scramble(size, scramble):
    near = distances(size, scramble)
    env = FifteenPuzzle(100, size, scramble)
    for seed in range(100):
        env.reset(seed=seed)
        assert near[env.board] <= scramble


def test_every_move_does_what_its_direction_says():
    for size in (2, 3, 4):
        for board in list(distances(size, 8))[1::3]:
            possible = dict(neighbours(board, size))
            for name in GO:
                env = started(board, size)
                step = env.step(f"\\boxed{{{name}}}")
                assert env.board == possible.get(name, board)
                assert ("none can slide there" in step.observation) == (name not in possible)
                assert step.info.get("success", False) == (env.board == solved(size))
                assert env.turn == 1


# How many boards there are is known: https://oeis.org/A089473.
@pytest.mark.parametrize(
    ("size", "most", "boards", "every"),
    [(2, 6, 12, 1), (3, 14, 4767, 400), pytest.param(3, 31, 181_440, 2000, marks=pytest.mark.full)],
)
def test_small_boards_are_solved_in_the_fewest_moves(size, most, boards, every):
    distance = distances(size, most)
    assert len(distance) == boards
    for board in list(distance)[1::every]:
        assert len(solve(board, size)) == distance[board]


def test_the_estimate_is_never_more_than_the_distance():
    for size, most in ((2, 6), (3, 16), (4, 9)):
        for board, moves in distances(size, most).items():
            assert lower_bound(board, size) <= moves


def test_a_linear_conflict_counts_two_moves_more():
    assert lower_bound((2, 1, 3, 4, 5, 6, 7, 8, 0), 3) == 4
    assert lower_bound((3, 2, 1, 4, 5, 6, 7, 8, 0), 3) == 8
    assert lower_bound((1, 2, 3, 7, 5, 6, 4, 8, 0), 3) == 4


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_expert_solves_the_board_that_random_play_left(size):
    env = FifteenPuzzle(1000, size, scramble=20)
    for seed in range(2):
        env.reset(seed=seed)
        while env.turn < 200 and not (step := env.step(env.sample_action())).done:
            pass
        while not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]


def test_the_board_is_shown_row_by_row_with_the_empty_cell_underlined():
    env = started((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 12, 13, 14, 11, 15), 4)
    assert env._board() == " 1  2  3  4\n 5  6  7  8\n 9 10 __ 12\n13 14 11 15"
    step = env.step("\\boxed{up}")
    assert "you slid tile 11 up." in step.observation
    assert step.observation.endswith(" 9 10 11 12\n13 14 __ 15\nEnter your move.")


def test_the_last_turn_and_no_other_earns_the_share_of_cells_that_are_right():
    env = started((1, 0, 3, 2), 2, max_turns=3)
    steps = [env.step(f"\\boxed{{{name}}}") for name in ("left", "down", "right")]
    assert [step.reward for step in steps] == [0, 0, 0.25]
    assert steps[-1].truncated
    assert "last turn" in steps[-1].observation


@pytest.mark.parametrize("reply", ["up", "UP", " Up\n"])
def test_case_and_space_do_not_matter(reply):
    env = started((1, 2, 0, 3), 2)
    env.board = (1, 0, 3, 2)
    assert env.step(f"\\boxed{{{reply}}}").info == {"success": True}


@pytest.mark.parametrize(("id", "most"), [("game:FifteenPuzzle-v0-easy", 0.55), ("game:FifteenPuzzle-v0-random", 0.45)])
def test_no_fixed_list_of_moves_wins_most_small_boards(id, most):
    env = gem.make(id)
    starts = Counter()
    for seed in range(600):
        env.reset(seed=seed)
        starts[env.board, env.max_turns] += env.num_rows == 2
    turns = max(turns for (board, turns), count in starts.items() if count)
    # Every list of moves at once: what it has made of each board so far, once solved for good.
    boards = [board for board, count in starts.items() if count]
    reached = {tuple(board for board, _ in boards)}
    for _ in range(turns):
        reached = {
            tuple(board if board == solved(2) else dict(neighbours(board, 2)).get(name, board) for board in each)
            for each in reached
            for name in GO
        }
    won = (sum(starts[start] for start, end in zip(boards, ends, strict=True) if end == solved(2)) for ends in reached)
    assert max(won) / 600 <= most
