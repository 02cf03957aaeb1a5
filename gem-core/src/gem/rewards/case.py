"""What a reward may ask for by the names of its parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gem.core import ChatMessage
from gem.dataset_env import DatasetEnv
from gem.episode import Episode, Trace, Turn
from gem.errors import ConfigError, did_you_mean
from gem.packs.importing import parameters_of
from gem.packs.make import make
from gem.rollout.transcript import messages_of
from gem.tool.content import text_of


@dataclass(frozen=True, slots=True)
class Case:
    """What is scored: a turn of a player in an episode; the last one, unless the reward is per turn."""

    episode: Episode
    trace: Trace
    index: int
    """Of the turn in the trace."""

    @property
    def turn(self) -> Turn:
        """The turn."""
        return self.trace.turns[self.index]

    def messages(self) -> list[ChatMessage]:
        """The conversation of the player up to the reply of the turn, as chat messages."""
        return messages_of(self.trace.turns[: self.index + 1], self.trace.system)

    def conversation(self) -> str:
        """The same as text."""
        return "\n\n".join(f"{each['role']}:\n{text_of(each['content'])}" for each in self.messages())

    def question(self) -> str:
        """The text of the first observation of the player."""
        return text_of(self.trace.turns[0].observation)

    def row(self) -> Any:
        """The row of the data set that the episode asked, as its env has it.

        Raises:
            ConfigError: the env does not ask rows.
        """
        spec = self.episode.spec
        if spec is not None:
            with make(spec) as env:
                if isinstance(bare := env.unwrapped, DatasetEnv):
                    env.reset(seed=self.episode.seed, options=self.episode.options)
                    return bare.row  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        raise ConfigError(f"a reward asks for the row, and {self.episode.id} does not ask the rows of a data set")


PARAMETERS: Mapping[str, Callable[[Case], Any]] = {
    "answer": lambda case: case.turn.action,
    "question": Case.question,
    "messages": Case.messages,
    "conversation": Case.conversation,
    "turn": lambda case: case.turn,
    "turns": lambda case: case.trace.turns,
    "trace": lambda case: case.trace,
    "player": lambda case: case.trace.player,
    "info": lambda case: case.turn.info,
    "row": Case.row,
    "episode": lambda case: case.episode,
    "success": lambda case: case.episode.success,
}
"""The parameters that a reward may have, and their values."""


def asked_by(function: Callable[..., Any], name: str, given: int = 0) -> Callable[[Case], dict[str, Any]]:
    """A function from a case to the arguments that `function` asks for by the names of its parameters.

    Args:
        function: one that scores, or that makes the arguments of one.
        name: of the reward, for messages.
        given: positional parameters before them, which have other values.

    Raises:
        ConfigError: it is not a function, or asks for something else.
    """
    if isinstance(function, type) or not callable(function):
        raise ConfigError(f"the reward {name!r} is made of a function, not of {function!r:.80}")
    parameters = parameters_of(function, given)
    for each in parameters.taken:
        if each in parameters.needed and each not in PARAMETERS:
            raise ConfigError(
                f"the reward {name!r} asks for {each!r}, which there is not.{did_you_mean(each, PARAMETERS)} A reward "
                f"may ask for: {', '.join(PARAMETERS)}"
            )
    asked = [each for each in parameters.taken if each in PARAMETERS]
    return lambda case: {each: PARAMETERS[each](case) for each in asked}
