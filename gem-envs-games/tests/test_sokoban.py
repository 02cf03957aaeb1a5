import re
from collections import deque

import pytest

from gem_envs_games.sokoban import Sokoban
from gem_envs_games.sokoban.rules import Level, Position
from gem_envs_games.sokoban.solver import solve

GO = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def read(observation):
    """Walls, goals, boxes and player of an observation's board, as (row, column)."""
    rows = [line.split() for line in observation.splitlines() if re.fullmatch(r"(?:[#_XO√PS] ?)+", line)]
    where = {}
    for row, symbols in enumerate(rows):
        for col, symbol in enumerate(symbols):
            where.setdefault(symbol, set()).add((row, col))

    def all_of(symbols):
        return frozenset().union(*(where.get(symbol, set()) for symbol in symbols))

    (player,) = all_of("PS")
    return all_of("#"), all_of("OS√"), all_of("X√"), player


def go(walls, boxes, player, name):
    """The boxes and the player after a move, by the rules; the same ones if it is not possible."""
    down, right = GO[name]
    to, behind = (player[0] + down, player[1] + right), (player[0] + 2 * down, player[1] + 2 * right)
    if to in walls or (to in boxes and (behind in walls or behind in boxes)):
        return boxes, player
    return (boxes - {to} | {behind} if to in boxes else boxes), to


def fewest_moves(walls, goals, boxes, player):
    """By breadth-first search over all positions; None if there is no path."""
    found, queue = {(boxes, player): 0}, deque([(boxes, player)])
    while queue:
        position = queue.popleft()
        if position[0] == goals:
            return found[position]
        for name in GO:
            after = go(walls, *position, name)
            if after not in found:
                found[after] = found[position] + 1
                queue.append(after)
    return None


def started(board, max_turns=100):
    """A game on a board given as text."""
    walls, goals, boxes, player = read(board)
    cols = board.strip().splitlines()[0].count("#")
    rows = len(board.strip().splitlines())
    env = Sokoban((6, 6), max_turns, 1)
    env.reset(seed=0)

    def cell(place):
        return place[0] * cols + place[1]

    env.rows, env.cols, env.num_boxes = rows, cols, len(boxes)
    env.level = Level(
        {name: down * cols + right for name, (down, right) in GO.items()},
        frozenset(range(rows * cols)) - {cell(place) for place in walls},
        frozenset(map(cell, goals)),
        Position(cell(player), frozenset(map(cell, boxes))),
    )
    env.position, env._path = env.level.start, {}
    return env


@pytest.mark.parametrize(
    ("room", "boxes", "turns", "seeds"), [((6, 6), 2, 20, 10), ((5, 7), 1, 10, 10), ((7, 5), 3, 30, 4)]
)
def test_levels_can_be_solved_within_the_turns_by_a_search_of_all_positions(room, boxes, turns, seeds):
    env = Sokoban(room, turns, boxes)
    starts = set()
    for seed in range(seeds):
        observation, _ = env.reset(seed=seed)
        walls, goals, there, player = read(observation)
        assert len(goals) == len(there) == boxes
        assert not goals & there
        fewest = fewest_moves(walls, goals, there, player)
        assert fewest <= turns
        starts.add((walls, goals, there, player))
        while not (step := env.step(env.expert_action())).done:
            pass
        assert step.info["success"]
        assert env.turn >= fewest
    assert len(starts) > 0.9 * seeds


@pytest.mark.parametrize(("room", "boxes", "turns"), [((8, 8), 4, 50), ((8, 8), 5, 50), ((10, 10), 5, 50)])
def test_the_path_by_which_a_level_was_made_solves_it_by_the_rules(room, boxes, turns):
    env = Sokoban(room, turns, boxes)
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        walls, goals, there, player = read(observation)
        assert len(walls) >= 2 * (sum(room) - 2)
        position = env.position
        moves = 0
        while there != goals:
            name = env._path[position]
            there, player = go(walls, there, player, name)
            position = Position(player[0] * room[1] + player[1], frozenset(r * room[1] + c for r, c in there))
            moves += 1
        assert moves <= turns


def test_every_move_does_what_the_rules_say():
    env = Sokoban((7, 7), 1000, 4)
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        for _ in range(100):
            walls, goals, boxes, player = read(observation)
            name = env.action_rng.choice(list(GO))
            step = env.step(f"\\boxed{{{name}}}")
            observation = step.observation
            after = go(walls, boxes, player, name)
            assert read(observation) == (walls, goals, *after)
            assert ("tried to go" in observation) == (after == (boxes, player))
            assert ("pushed a box" in observation) == (after[0] != boxes)
            assert step.done == (after[0] == goals)
            if step.done:
                break


BOARD = """
# # # # # # #
# P X X _ O #
# X _ _ _ S #
# # # # # # #
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("up", "tried to go up, but a wall is there"),
        ("right", "tried to go right, but the box there cannot be pushed further"),
        ("down", "tried to go down, but the box there cannot be pushed further"),
    ],
)
def test_a_move_that_is_not_possible_uses_up_a_turn_and_says_why(name, reason):
    env = started(BOARD.replace("S", "O"))
    before = env.position
    step = env.step(f"\\boxed{{{name}}}")
    assert reason in step.observation
    assert (env.position, env.turn, step.reward, step.done) == (before, 1, 0, False)


def test_goals_stay_visible_under_the_player_and_under_boxes():
    env = started("# # # # # #\n# P X O _ #\n# # # # # #")
    assert env._board().splitlines()[1] == "# P X O _ #"
    step = env.step("\\boxed{RIGHT}")
    assert (step.reward, step.terminated, step.info) == (1, True, {"success": True})
    assert step.observation.splitlines()[-2] == "# _ P √ _ #"
    env = started("# # # # # #\n# P O X O #\n# # # # # #")
    env.step("\\boxed{right}")
    assert env._board().splitlines()[1] == "# _ S X O #"


def test_the_last_turn_and_no_other_earns_the_share_of_boxes_on_goals():
    env = started("# # # # # #\n# P X O _ #\n# _ X _ O #\n# # # # # #", max_turns=10)
    env.max_turns = 3
    steps = [env.step(f"\\boxed{{{name}}}") for name in ("right", "left", "left")]
    assert [step.reward for step in steps] == [0, 0, 0.5]
    assert steps[-1].truncated


def test_a_box_in_a_corner_has_no_solution_and_the_expert_keeps_moving():
    env = started("# # # # #\n# X _ _ #\n# _ P O #\n# _ _ _ #\n# # # # #", max_turns=12)
    assert solve(env.level, env.position) is None
    while not (step := env.step(env.expert_action())).done:
        assert "tried to go" not in step.observation
    assert step.truncated


def test_the_expert_wins_after_detours():
    env = Sokoban((6, 6), 200, 1)
    for seed in range(20):
        env.reset(seed=seed)
        detour = None
        while not (step := env.step(env.expert_action() if env.turn % 3 else detour or "\\boxed{up}")).done:
            walls, goals, boxes, player = read(step.observation)
            # A step off the way that pushes nothing, where there is one.
            free = [name for name in GO if go(walls, boxes, player, name)[0] == boxes]
            detour = f"\\boxed{{{free[0]}}}" if free else None
            if fewest_moves(walls, goals, boxes, player) is None:
                break
        else:
            assert step.info["success"]
