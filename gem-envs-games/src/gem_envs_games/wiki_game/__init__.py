"""The Wikipedia Game: the game, and the wikis that it is played on."""

from gem_envs_games.wiki_game.env import WikiGame

__all__ = ["WikiGame"]
