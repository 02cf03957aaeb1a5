"""Solving a Sudoku, as pure functions.

A grid is a flat list of ``scale * scale`` digits, row by row, with 0 for an empty cell; its boxes are squares of
``sqrt(scale)`` rows and columns. A set of digits is a bit mask: bit ``d - 1`` stands for the digit d.
"""

import math
import random
from functools import cache


@cache
def units(scale: int) -> tuple[tuple[int, int, int], ...]:
    """The row, column and box of each cell: numbers from 0, `scale` and ``2 * scale`` upwards."""
    size = math.isqrt(scale)
    return tuple(
        (row, scale + column, 2 * scale + row // size * size + column // size)
        for row in range(scale)
        for column in range(scale)
    )


@cache
def houses(scale: int) -> tuple[tuple[int, ...], ...]:
    """The cells of each row, column and box, by the numbers that `units` gives."""
    where = units(scale)
    return tuple(tuple(cell for cell, own in enumerate(where) if unit in own) for unit in range(3 * scale))


def digits_left(grid: list[int], cell: int) -> list[int]:
    """The digits that neither `cell` nor another cell of its row, column and box holds."""
    scale = math.isqrt(len(grid))
    held = {grid[other] for unit in units(scale)[cell] for other in houses(scale)[unit]}
    return [digit for digit in range(1, scale + 1) if digit not in held]


def solve(
    grid: list[int], *, rng: random.Random | None = None, forbidden: tuple[int, int] | None = None
) -> list[int] | None:
    """A solution of `grid`, or None if there is none.

    Args:
        grid: digits that break no rule.
        rng: tries digits in random order, so that an empty grid gives a random full one.
        forbidden: a cell and a digit which that cell must not get.
    """
    scale = math.isqrt(len(grid))
    where = units(scale)
    everything = (1 << scale) - 1
    free = [everything] * (3 * scale)
    for cell, digit in enumerate(grid):
        if digit:
            for unit in where[cell]:
                free[unit] ^= 1 << digit - 1
    forbidden_cell, allowed = (-1, 0) if forbidden is None else (forbidden[0], ~(1 << forbidden[1] - 1))
    solution = list(grid)
    empty = [cell for cell, digit in enumerate(grid) if not digit]

    def fill() -> bool:
        if not empty:
            return True
        # The cell with the fewest digits left comes first: a contradiction then shows early.
        best, choices, fewest = -1, 0, scale + 1
        for index, cell in enumerate(empty):
            row, column, box = where[cell]
            digits = free[row] & free[column] & free[box]
            if cell == forbidden_cell:
                digits &= allowed
            if digits.bit_count() < fewest:
                best, choices, fewest = index, digits, digits.bit_count()
                if fewest <= 1:
                    break
        cell = empty.pop(best)
        row, column, box = where[cell]
        bits = [bit for bit in (1 << shift for shift in range(scale)) if choices & bit]
        if rng is not None:
            rng.shuffle(bits)
        for bit in bits:
            free[row] ^= bit
            free[column] ^= bit
            free[box] ^= bit
            solution[cell] = bit.bit_length()
            if fill():
                return True
            free[row] ^= bit
            free[column] ^= bit
            free[box] ^= bit
        empty.insert(best, cell)
        return False

    return solution if fill() else None
