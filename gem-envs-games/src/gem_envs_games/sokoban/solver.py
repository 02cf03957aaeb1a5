"""Solving a Sokoban level by a search over pushes."""

from collections import deque
from heapq import heappop, heappush

from gem_envs_games.sokoban.rules import Level, Position, Way, moved, shortest_walk, walk_lengths

SEARCHED = 2_000
"""Positions that `solve` looks at before it gives up."""


def solve(level: Level, start: Position) -> Way | None:
    """A way from `start` to the end, which need not be a shortest one; None if none is found.

    It is a greedy A* over pushes. The estimate is each box's distance from its nearest goal, in pushes; a box that no
    push brings to a goal ends the line.
    """
    steps, far = level.steps, _pushes_left(level)
    estimate = sum(far.get(box, 0) for box in start.boxes)
    waiting = [(estimate, 0, 0, start)]
    came: dict[Position, tuple[Position, int, str]] = {}
    seen: set[Position] = set()
    for _ in range(SEARCHED):
        if not waiting:
            return None
        _, _, cost, here = heappop(waiting)
        if here.boxes == level.goals:
            return _way(level, came, start, here)
        walks = walk_lengths(here.player, level.floor - here.boxes, steps.values())
        # Where the player stands matters only as far as what he can reach.
        same = Position(min(walks), here.boxes)
        if same in seen:
            continue
        seen.add(same)
        for box in here.boxes:
            for name, step in steps.items():
                to = box + step
                if box - step not in walks or to not in far or to in here.boxes:
                    continue
                after = Position(box, here.boxes - {box} | {to})
                spent = cost + walks[box - step] + 1
                if after not in came:
                    came[after] = here, box - step, name
                    left = sum(far.get(other, 10_000) for other in after.boxes)
                    heappush(waiting, (spent + 4 * left, left, spent, after))
    return None


def _pushes_left(level: Level) -> dict[int, int]:
    """For each cell from which a box can be pushed to a goal, on a board without others: in how many pushes."""
    found, queue = dict.fromkeys(level.goals, 0), deque(sorted(level.goals))
    while queue:
        cell = queue.popleft()
        for step in level.steps.values():
            box = cell - step
            if box not in found and box in level.floor and box - step in level.floor:
                found[box] = found[cell] + 1
                queue.append(box)
    return found


def _way(level: Level, came: dict[Position, tuple[Position, int, str]], start: Position, end: Position) -> Way:
    way: Way = {}
    while end != start:
        before, beside, name = came[end]
        here = before
        for step in [*shortest_walk(here.player, beside, level.floor - here.boxes, level.steps), name]:
            way[here] = step
            here = moved(level, here, step) or here
        end = before
    return way
