"""Sokoban as pure functions: make a level by playing backwards, and solve one by a search over pushes.

Cells are numbered row by row. A level lies inside a ring of walls, so a step from a floor cell never leaves the board.
"""

import random
from collections import deque
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from gem_envs_games.directions import DIRECTIONS

SEARCHED = 2_000
"""Positions that `solve` looks at before it gives up."""


class Position(NamedTuple):
    """What changes in a game: where the player is, and the boxes."""

    player: int
    boxes: frozenset[int]


class Level(NamedTuple):
    """A room with goals, and how it starts."""

    steps: Mapping[str, int]
    """How far apart two cells are, by the direction from one to the other."""
    floor: frozenset[int]
    goals: frozenset[int]
    start: Position


Way = dict[Position, str]
"""For each position on the way to the end: the direction in which the player goes next."""


def make_level(rows: int, cols: int, num_boxes: int, most: int, rng: random.Random) -> tuple[Level, Way]:
    """A level that can be solved in at most `most` moves, with no box on a goal, and a way to solve it.

    It sets boxes on the goals of a random room and lets a player pull them about, never to an arrangement that was
    there before; done backwards, the pulls are pushes. Rooms are drawn until one allows it.
    """
    steps = {name: down * cols + right for name, (down, right) in DIRECTIONS.items()}
    while True:
        floor = _room(rows, cols, steps, rng)
        player, *goals = rng.sample(sorted(floor), num_boxes + 1)
        solved = Level(steps, floor, frozenset(goals), Position(player, frozenset(goals)))
        found = _pulled(solved, most, rng)
        if found is not None:
            start, way = found
            return solved._replace(start=start), way


def _room(rows: int, cols: int, steps: Mapping[str, int], rng: random.Random) -> frozenset[int]:
    """A connected floor: the whole inside, but for up to a fourth of it."""
    floor = {row * cols + col for row in range(1, rows - 1) for col in range(1, cols - 1)}
    for cell in rng.sample(sorted(floor), rng.randint(0, len(floor) // 4)):
        floor.remove(cell)
        if len(_walks(next(iter(floor)), floor, steps.values())) < len(floor):
            floor.add(cell)
    return frozenset(floor)


def _walks(start: int, free: Iterable[int], steps: Iterable[int]) -> dict[int, int]:
    """How many steps it takes from `start` to every free cell that can be reached."""
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


def _walk(start: int, end: int, free: Iterable[int], steps: Mapping[str, int]) -> list[str]:
    """The directions of a shortest walk between two cells that are connected."""
    away = _walks(end, free, steps.values())
    names: list[str] = []
    while start != end:
        name = next(name for name, step in steps.items() if away.get(start + step) == away[start] - 1)
        names.append(name)
        start += steps[name]
    return names


def _pulled(level: Level, most: int, rng: random.Random) -> tuple[Position, Way] | None:
    steps, floor = level.steps, level.floor
    player, boxes = level.start
    seen = {boxes}
    way: Way = {}
    found: tuple[Position, Way] | None = None
    while True:
        free = floor - boxes
        walks = _walks(player, free, steps.values())
        pulls = [
            (box, name)
            for box in sorted(boxes)
            for name, step in steps.items()
            if box + step in walks and box + 2 * step in free and boxes - {box} | {box + step} not in seen
        ]
        if not pulls:
            return found
        box, name = rng.choice(pulls)
        beside, step = box + steps[name], steps[name]
        # A walk has no use before the first pull: it would be one after the game is won.
        walk = _walk(beside, player, free, steps) if way else []
        if len(way) + len(walk) + 1 > most:
            return found
        here = beside
        for back in walk:
            # Filled from the near end of the walk to its far end, as the player will go.
            way[Position(here, boxes)] = back
            here += steps[back]
        boxes = boxes - {box} | {beside}
        player = beside + step
        way[Position(player, boxes)] = _OPPOSITE[name]
        seen.add(boxes)
        if not boxes & level.goals:
            found = Position(player, boxes), dict(way)


_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


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
        walks = _walks(here.player, level.floor - here.boxes, steps.values())
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


def rest_of_way(level: Level, way: Way, position: Position) -> list[str]:
    """The directions that `way` gives from `position` to the end."""
    names: list[str] = []
    while position in way:
        names.append(way[position])
        position = moved(level, position, way[position]) or position
    return names


def _way(level: Level, came: dict[Position, tuple[Position, int, str]], start: Position, end: Position) -> Way:
    way: Way = {}
    while end != start:
        before, beside, name = came[end]
        here = before
        for step in [*_walk(here.player, beside, level.floor - here.boxes, level.steps), name]:
            way[here] = step
            here = moved(level, here, step) or here
        end = before
    return way
