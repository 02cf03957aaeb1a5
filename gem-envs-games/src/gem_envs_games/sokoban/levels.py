"""Making Sokoban levels by playing backwards from the end."""

import random
from collections.abc import Mapping

from gem_envs_games.directions import DIRECTIONS
from gem_envs_games.sokoban.rules import Level, Position, Way, shortest_walk, walk_lengths


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
        if len(walk_lengths(next(iter(floor)), floor, steps.values())) < len(floor):
            floor.add(cell)
    return frozenset(floor)


def _pulled(level: Level, most: int, rng: random.Random) -> tuple[Position, Way] | None:
    steps, floor = level.steps, level.floor
    player, boxes = level.start
    seen = {boxes}
    way: Way = {}
    found: tuple[Position, Way] | None = None
    while True:
        free = floor - boxes
        walks = walk_lengths(player, free, steps.values())
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
        walk = shortest_walk(beside, player, free, steps) if way else []
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
