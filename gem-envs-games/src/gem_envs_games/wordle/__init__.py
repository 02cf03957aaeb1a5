"""Wordle: the game and its solver."""

from gem_envs_games.wordle.env import Wordle

__all__ = ["Wordle"]
