"""The rules of Sokoban as pure functions: positions, levels, and what a move does.

Cells are numbered row by row. A level is surrounded by walls, so a step from a floor cell never leaves the board.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Position(NamedTuple):
    """The state of a game: where the player is, and the boxes."""

    player: int
    boxes: frozenset[int]


class Level(NamedTuple):
    """A room with goals, and the position at its start."""

    steps: Mapping[str, int]
    """The distance of two cells, by the direction from one to the other."""
    floor: frozenset[int]
    goals: frozenset[int]
    start: Position


Path = dict[Position, str]
"""Each position on a path to the end → the direction in which the player goes next."""


def moved(level: Level, position: Position, name: str) -> Position | None:
    """The position after the player went or pushed in a direction, or None where that is not possible."""
    step = level.steps[name]
    to = position.player + step
    if to not in level.floor:
        return None
    if to not in position.boxes:
        return Position(to, position.boxes)
    if to + step not in level.floor or to + step in position.boxes:
        return None
    return Position(to, position.boxes - {to} | {to + step})


def rest_of_path(level: Level, path: Path, position: Position) -> list[str]:
    """The directions that `path` gives from `position` to the end."""
    names: list[str] = []
    while position in path:
        names.append(path[position])
        position = moved(level, position, path[position]) or position
    return names


def walk_lengths(start: int, free: Iterable[int], steps: Iterable[int]) -> dict[int, int]:
    """The number of steps from `start` to every free cell that can be reached."""
    left = set(free)
    left.discard(start)
    found, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        for step in steps:
            other = cell + step
            if other in left:
                left.remove(other)
                found[other] = found[cell] + 1
                queue.append(other)
    return found


def shortest_walk(start: int, end: int, free: Iterable[int], steps: Mapping[str, int]) -> list[str]:
    """The directions of a shortest walk between two cells that are connected."""
    away = walk_lengths(end, free, steps.values())
    names: list[str] = []
    while start != end:
        name = next(name for name, step in steps.items() if away.get(start + step) == away[start] - 1)
        names.append(name)
        start += steps[name]
    return names
