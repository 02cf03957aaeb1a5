"""The episode so far in one string, for trainers that want one string a step.

GEM's own rollout keeps the transcript itself and needs none of these.
"""

from collections.abc import Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step, Wrapper
from gem.wrappers.history import TextHistory, check_length, line, text_of


class Concat(Wrapper):
    """Each observation is all observations of the episode so far, a line break after each.

    Args:
        max_history_length: how many turns the text goes back; None for all. The first observation, which holds the
            rules, is kept besides.

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
        """What the text begins with."""
        return line(text_of(observation))

    def _turn(self, action: str, observation: str) -> str:
        """What a turn adds to the text."""
        return line(observation)


class ConcatWithAction(Concat):
    """Each observation is all observations and actions of the episode so far, in order, a line break after each.

    Args:
        max_history_length: how many turns (an action and what came of it) the text goes back; None for all. The
            first observation, which holds the rules, is kept besides.
    """

    def _turn(self, action: str, observation: str) -> str:
        return line(action) + line(observation)
