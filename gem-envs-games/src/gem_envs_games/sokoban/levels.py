"""Making Sokoban levels by playing backwards from the end."""

import random
from collections.abc import Mapping

from gem_envs_games.directions import DIRECTIONS
from gem_envs_games.sokoban.rules import Level, Path, Position, shortest_walk, walk_lengths


def make_level(rows: int, cols: int, num_boxes: int, most: int, rng: random.Random) -> tuple[Level, Path]:
    """A level that can be solved in at most `most` moves, with no box on a goal, and a path that solves it.

    It puts boxes on the goals of a random room and pulls them away, never into an arrangement that was there before;
    done backwards, the pulls are pushes. Rooms are drawn until one allows it.
    """
    steps = {name: down * cols + right for name, (down, right) in DIRECTIONS.items()}
    while True:
        floor = _room(rows, cols, steps, rng)
        player, *goals = rng.sample(sorted(floor), num_boxes + 1)
        solved = Level(steps, floor, frozenset(goals), Position(player, frozenset(goals)))
        found = _pull_boxes(solved, most, rng)
        if found is not None:
            start, path = found
            return solved._replace(start=start), path


def _room(rows: int, cols: int, steps: Mapping[str, int], rng: random.Random) -> frozenset[int]:
    """A connected floor: all cells inside the walls except up to a fourth of them."""
    floor = {row * cols + col for row in range(1, rows - 1) for col in range(1, cols - 1)}
    for cell in rng.sample(sorted(floor), rng.randint(0, len(floor) // 4)):
        floor.remove(cell)
        if len(walk_lengths(next(iter(floor)), floor, steps.values())) < len(floor):
            floor.add(cell)
    return frozenset(floor)


def _pull_boxes(level: Level, most: int, rng: random.Random) -> tuple[Position, Path] | None:
    steps, floor = level.steps, level.floor
    player, boxes = level.start
    seen = {boxes}
    path: Path = {}
    found: tuple[Position, Path] | None = None
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
        # Before the first pull a walk would be useless: it would come after the game is won.
        walk = shortest_walk(beside, player, free, steps) if path else []
        if len(path) + len(walk) + 1 > most:
            return found
        here = beside
        for back in walk:
            # Filled from the near end of the walk to its far end, as the player will go.
            path[Position(here, boxes)] = back
            here += steps[back]
        boxes = boxes - {box} | {beside}
        player = beside + step
        path[Position(player, boxes)] = _OPPOSITE[name]
        seen.add(boxes)
        if not boxes & level.goals:
            found = Position(player, boxes), dict(path)


_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
