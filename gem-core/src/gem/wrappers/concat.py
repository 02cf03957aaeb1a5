"""The episode so far in one string, for trainers that expect one string per step. `gem.rollout` does not need it."""

from collections.abc import Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step, Wrapper
from gem.wrappers.history import TextHistory, check_length, line, text_of


class Concat(Wrapper):
    """All observations of the episode so far in each observation, a line break after each.

    Args:
        max_history_length: the most turns in the text, besides the first observation; None for all.

    Raises:
        ConfigError: at `reset` or `step`, if an observation is not text.
    """

    def __init__(self, env: Env, *, max_history_length: int | None = None) -> None:
        super().__init__(env)
        self._history = TextHistory(check_length(max_history_length))

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._history.start(self._first(observation)), info

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        text = self._history.add(self._turn(action, text_of(observation)))
        return Step(text, reward, terminated, truncated, info)

    def _first(self, observation: Observation) -> str:
        """The text of the first observation."""
        return line(text_of(observation))

    def _turn(self, action: str, observation: str) -> str:
        """The text of one turn."""
        return line(observation)


class ConcatWithAction(Concat):
    """`Concat` with the actions between the observations."""

    def _turn(self, action: str, observation: str) -> str:
        return line(action) + line(observation)
