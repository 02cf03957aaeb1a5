"""Settings of a game that are the same in every episode or drawn in each."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from gem.turn_env import TurnEnv


class DrawnSettings(TurnEnv):
    """A game whose settings are the same in every episode or, if one of them is None, are all drawn in each episode.

    The constructor calls `_fix_or_draw` with the settings; a game writes `_configure`, `_draw` and `_start`.
    """

    def _fix_or_draw(self, **settings: Any) -> None:
        """Use these settings and `max_turns` in every episode, or draw all of them in each if one is None.

        Raises:
            ConfigError: a setting is out of range.
        """
        self._draws = self.max_turns is None or any(value is None for value in settings.values())
        if not self._draws:
            self._configure(**settings)

    @abstractmethod
    def _configure(self, *args: Any, **settings: Any) -> None:
        """Check the settings and keep them in attributes; `max_turns` is kept already."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw the settings of an episode, `max_turns` among them, from `self.rng`, and keep them in attributes."""

    @abstractmethod
    def _start(self) -> str:
        """Set up an episode with the settings, and return what the agent sees first."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        if self._draws:
            self._draw()
        return self._start()
