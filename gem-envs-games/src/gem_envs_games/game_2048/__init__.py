"""2048: the game and its moves."""

from gem_envs_games.game_2048.env import Game2048

__all__ = ["Game2048"]
