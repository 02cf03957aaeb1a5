"""The episode so far in one string, for trainers that expect one string per step. `gem.rollout` does not need it."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from gem.checks import check_int
from gem.core import Env, Info, Observation, Step, Wrapper
from gem.errors import ConfigError


class Concat(Wrapper):
    """All observations of the episode so far in each observation, a line break after each.

    Each turn copies the text, unless the caller has dropped the previous string: then it grows in place.

    Args:
        max_history_length: the most turns in the text, besides the first observation; None for all.

    Raises:
        ConfigError: the env has several players; at `reset` or `step`, an observation is not text.
    """

    def __init__(self, env: Env, *, max_history_length: int | None = None) -> None:
        super().__init__(env)
        check_one_player(self, env)
        self.max_history_length = check_length(max_history_length)
        self._text = ""
        self._first_length = 0
        self._lengths: deque[int] = deque()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._text = self._first(observation)
        self._first_length = len(self._text)
        self._lengths.clear()
        return self._text, info

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        turn = self._turn(action, text_of(observation))
        # CPython appends in place to a string with one reference.
        text, self._text = self._text, ""
        text += turn
        if self.max_history_length is not None:
            self._lengths.append(len(turn))
            if len(self._lengths) > self.max_history_length:
                dropped = self._lengths.popleft()
                text = text[: self._first_length] + text[self._first_length + dropped :]
        self._text = text
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


def check_one_player(wrapper: Wrapper, env: Env) -> None:
    """Refuse an env with several players: what one of them reads would be in the observations of another."""
    if env.players:
        raise ConfigError(
            f"{type(wrapper).__name__} would show a player what other players read: put the wrapper `seat` between, "
            'such as {"name": "seat", "player": "' + env.players[0] + '"}'
        )


def line(text: str) -> str:
    """`text` with a newline at its end; an empty text stays empty."""
    return text if not text or text.endswith("\n") else text + "\n"


def check_length(max_history_length: int | None) -> int | None:
    """`max_history_length`, if it is None or an integer of at least 1; otherwise raises `ConfigError`."""
    return None if max_history_length is None else check_int("max_history_length", max_history_length, 1)


def text_of(observation: Observation) -> str:
    """`observation`, if it is text; raises `ConfigError` for a list of content parts."""
    if not isinstance(observation, str):
        raise ConfigError(
            "this wrapper joins texts, and the env's observation is a list of content parts; "
            "use ConcatChat with a tokenizer whose chat template takes them"
        )
    return observation
