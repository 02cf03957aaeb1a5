import random
from itertools import combinations

from gem_envs_games.minesweeper.solver import deduce, mine_weights, neighbours, safest_cell


def random_position(rng):
    """A small board with some safe cells revealed: what the player sees, the size, and the number of mines."""
    rows, cols = rng.randint(2, 4), rng.randint(2, 4)
    cells = range(rows * cols)
    mines = set(rng.sample(cells, rng.randint(1, len(cells) // 2)))
    safe = [cell for cell in cells if cell not in mines]
    shown = set(rng.sample(safe, rng.randint(0, len(safe) - 1)))
    around = neighbours(rows, cols)
    visible = [sum(other in mines for other in around[cell]) if cell in shown else None for cell in cells]
    return visible, rows, cols, len(mines)


def placements(visible, rows, cols, mines):
    """Every set of mines that agrees with what the player sees, by trying all."""
    around = neighbours(rows, cols)
    hidden = [cell for cell, number in enumerate(visible) if number is None]
    for chosen in combinations(hidden, mines):
        if all(n is None or n == len(set(around[cell]) & set(chosen)) for cell, n in enumerate(visible)):
            yield set(chosen)


def counts_of(visible, rows, cols, mines):
    counts = {sum(1 << cell for cell, number in enumerate(visible) if number is None): mines}
    for cell, number in enumerate(visible):
        if number is not None:
            counts[sum(1 << other for other in neighbours(rows, cols)[cell] if visible[other] is None)] = number
    counts.pop(0, None)
    return counts


def test_mine_weights_count_the_placements_with_a_mine_in_each_cell():
    rng = random.Random(0)
    for _ in range(80):
        position = random_position(rng)
        every = list(placements(*position))
        for cells, weight in mine_weights(counts_of(*position)):
            for cell in range(len(position[0])):
                if cells >> cell & 1:
                    assert weight == sum(cell in mines for mines in every)


def test_what_is_deduced_holds_in_every_placement():
    rng = random.Random(1)
    found = 0
    for _ in range(100):
        position = random_position(rng)
        every = list(placements(*position))
        safe, counts = deduce(counts_of(*position))
        for cell in range(len(position[0])):
            if safe >> cell & 1:
                found += 1
                assert not any(cell in mines for mines in every)
        if not safe:
            # The counts that are left leave out cells that are mines in every placement.
            left = max(counts, key=int.bit_count, default=0)
            for cell, number in enumerate(position[0]):
                if number is None and not left >> cell & 1:
                    assert all(cell in mines for mines in every)
    assert found > 40


def test_the_safest_cell_has_the_fewest_placements_with_a_mine_in_it():
    rng = random.Random(2)
    for _ in range(100):
        position = random_position(rng)
        every = list(placements(*position))
        hidden = [cell for cell, number in enumerate(position[0]) if number is None]
        risk = {cell: sum(cell in mines for mines in every) for cell in hidden}
        assert risk[safest_cell(*position)] == min(risk.values())


def test_the_pattern_1_2_1_is_solved_by_comparing_two_numbers():
    # The middle row shows 1 2 1 below a hidden row of three: the mines are at both ends.
    hidden = 0b111
    safe, _ = deduce({0b011: 1, hidden: 2, 0b110: 1})
    assert safe == 0b010
