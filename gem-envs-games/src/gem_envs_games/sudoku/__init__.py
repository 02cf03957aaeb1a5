"""Sudoku: the game, its puzzles and their solver."""

from gem_envs_games.sudoku.env import Sudoku

__all__ = ["Sudoku"]
