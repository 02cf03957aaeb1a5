"""Solving a Sokoban level by a search over pushes."""

from collections import deque
from heapq import heappop, heappush

from gem_envs_games.sokoban.rules import Level, Path, Position, moved, shortest_walk, walk_lengths

MOST_POSITIONS = 2_000
"""Positions that `solve` looks at before it gives up."""


def solve(level: Level, start: Position) -> Path | None:
    """A path from `start` to the end, not always a shortest one; None if none is found.

    It is a greedy A* over pushes. The heuristic is each box's distance in pushes from its nearest goal; positions with
    a box that cannot be pushed to any goal are left out.
    """
    steps, far = level.steps, _pushes_left(level)
    estimate = sum(far.get(box, 0) for box in start.boxes)
    waiting = [(estimate, 0, 0, start)]
    came: dict[Position, tuple[Position, int, str]] = {}
    seen: set[Position] = set()
    for _ in range(MOST_POSITIONS):
        if not waiting:
            return None
        _, _, cost, here = heappop(waiting)
        if here.boxes == level.goals:
            return _path(level, came, start, here)
        walks = walk_lengths(here.player, level.floor - here.boxes, steps.values())
        # Positions in which the player can reach the same cells are equal.
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
    """The fewest pushes to a goal from each cell from which a box can be pushed to one, on a board without others."""
    found, queue = dict.fromkeys(level.goals, 0), deque(sorted(level.goals))
    while queue:
        cell = queue.popleft()
        for step in level.steps.values():
            box = cell - step
            if box not in found and box in level.floor and box - step in level.floor:
                found[box] = found[cell] + 1
                queue.append(box)
    return found


def _path(level: Level, came: dict[Position, tuple[Position, int, str]], start: Position, end: Position) -> Path:
    path: Path = {}
    while end != start:
        before, beside, name = came[end]
        here = before
        for step in [*shortest_walk(here.player, beside, level.floor - here.boxes, level.steps), name]:
            path[here] = step
            here = moved(level, here, step) or here
        end = before
    return path
