"""Hangman: the game and its solver."""

from gem_envs_games.hangman.env import Hangman

__all__ = ["Hangman"]
