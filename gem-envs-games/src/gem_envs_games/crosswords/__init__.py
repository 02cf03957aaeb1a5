"""Crosswords: the game, its grids, and the clues."""

from gem_envs_games.crosswords.env import Crosswords

__all__ = ["Crosswords"]
