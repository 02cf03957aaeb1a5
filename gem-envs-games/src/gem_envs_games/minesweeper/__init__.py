"""Minesweeper: the game and its solver."""

from gem_envs_games.minesweeper.env import Minesweeper

__all__ = ["Minesweeper"]
