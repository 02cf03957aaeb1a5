"""Mastermind: the game and its solver."""

from gem_envs_games.mastermind.env import Mastermind

__all__ = ["Mastermind"]
