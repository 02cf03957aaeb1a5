"""Fifteen Puzzle: the game and its solver."""

from gem_envs_games.fifteen_puzzle.env import FifteenPuzzle

__all__ = ["FifteenPuzzle"]
