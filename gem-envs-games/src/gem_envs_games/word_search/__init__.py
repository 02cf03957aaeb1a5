"""Word Search: the game and its grids."""

from gem_envs_games.word_search.env import WordSearch

__all__ = ["WordSearch"]
