import random
from functools import cache
from itertools import permutations, product

import pytest

from gem_envs_games.sudoku.puzzles import FEWEST_CLUES, make_puzzle
from gem_envs_games.sudoku.solver import digits_left, solve


def all_small_grids():
    """Every full 4 x 4 grid, by trying all rows."""
    rows = list(permutations(range(1, 5)))
    for grid in product(rows, repeat=4):
        columns = all(len({row[col] for row in grid}) == 4 for col in range(4))
        boxes = all(len({grid[r + i][c + j] for i in range(2) for j in range(2)}) == 4 for r in (0, 2) for c in (0, 2))
        if columns and boxes:
            yield [digit for row in grid for digit in row]


@cache
def grids():
    return list(all_small_grids())


def matching(puzzle):
    """The full 4 x 4 grids that agree with `puzzle`."""
    return [grid for grid in grids() if all(given in (0, digit) for given, digit in zip(puzzle, grid, strict=True))]


def count_solutions(puzzle, limit=2):
    """Solutions of a 9 x 9 puzzle as exact covers, by Knuth's Algorithm X on dictionaries; stops at `limit`."""
    choices = {
        (cell, digit): [
            ("cell", cell),
            ("row", cell // 9, digit),
            ("col", cell % 9, digit),
            ("box", cell // 27 * 3 + cell % 9 // 3, digit),
        ]
        for cell in range(81)
        for digit in ([puzzle[cell]] if puzzle[cell] else range(1, 10))
    }
    needs = {}
    for choice, met in choices.items():
        for need in met:
            needs.setdefault(need, set()).add(choice)

    def search():
        if not needs:
            return 1
        need = min(needs, key=lambda name: len(needs[name]))
        found = 0
        for choice in sorted(needs[need]):
            removed = []
            for met in choices[choice]:
                for rival in needs[met]:
                    for other in choices[rival]:
                        if other != met:
                            needs[other].discard(rival)
                removed.append((met, needs.pop(met)))
            found += search()
            for met, rivals in reversed(removed):
                needs[met] = rivals
                for rival in rivals:
                    for other in choices[rival]:
                        if other != met:
                            needs[other].add(rival)
            if found >= limit:
                break
        return found

    return search()


def test_there_are_288_grids():
    assert len(grids()) == 288


@pytest.mark.parametrize("clues", [4, 5, 7, 10, 15, 16])
def test_a_small_puzzle_has_its_clues_and_exactly_one_solution(clues):
    for seed in range(10):
        puzzle, solution = make_puzzle(4, clues, random.Random(seed))
        matching = [
            grid for grid in grids() if all(given in (0, digit) for given, digit in zip(puzzle, grid, strict=True))
        ]
        assert matching == [solution]
        assert sum(digit > 0 for digit in puzzle) == clues


@pytest.mark.parametrize(("clues", "seeds"), [(80, 1), (50, 4), (30, 2), (FEWEST_CLUES[9], 1)])
def test_a_large_puzzle_has_its_clues_and_exactly_one_solution(clues, seeds):
    for seed in range(seeds):
        puzzle, solution = make_puzzle(9, clues, random.Random(seed))
        assert sum(digit > 0 for digit in puzzle) == clues
        assert all(given in (0, digit) for given, digit in zip(puzzle, solution, strict=True))
        assert count_solutions(puzzle) == 1
        assert count_solutions(solution) == 1


def test_the_count_of_solutions_finds_a_second_one():
    _, solution = make_puzzle(9, 50, random.Random(0))
    assert count_solutions([0] * 27 + solution[27:]) == 2


def test_solve_finds_a_solution_exactly_where_there_is_one():
    for seed in range(100):
        rng = random.Random(seed)
        puzzle = list(rng.choice(grids()))
        for cell in rng.sample(range(16), rng.randint(4, 16)):
            puzzle[cell] = 0
        cell, digit = rng.randrange(16), rng.randint(1, 4)
        if puzzle[cell]:
            continue
        assert solve(puzzle) in matching(puzzle)
        without = [grid for grid in matching(puzzle) if grid[cell] != digit]
        found = solve(puzzle, forbidden=(cell, digit))
        assert found in without if without else found is None


def test_full_grids_vary():
    grids = {tuple(solve([0] * 81, rng=random.Random(seed))) for seed in range(50)}
    assert len(grids) == 50


def test_digits_left_are_those_that_row_column_and_box_lack():
    grid = [*(1, 0, 0, 0), *(0, 0, 3, 0), *(0, 2, 0, 0), *(0, 0, 0, 0)]
    assert digits_left(grid, 1) == [3, 4]
    assert digits_left(grid, 0) == [2, 3, 4]
    assert digits_left(grid, 15) == [1, 2, 3, 4]
