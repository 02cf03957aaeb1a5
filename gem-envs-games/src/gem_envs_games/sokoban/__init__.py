"""Sokoban: the game, its rules, its levels and their solver."""

from gem_envs_games.sokoban.env import Sokoban

__all__ = ["Sokoban"]
