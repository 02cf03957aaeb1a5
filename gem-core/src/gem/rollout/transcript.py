"""Growing conversations of players with an env."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gem.core import ChatMessage, Info, Observation
from gem.episode import Completion, Start, Turn
from gem.episode.episode import AGENT


@dataclass(slots=True)
class Transcript:
    """A conversation: its `turns`, the current `observation` with its `info`, and where it started."""

    observation: Observation
    info: Info = field(default_factory=dict[str, Any])
    turns: list[Turn] = field(default_factory=list[Turn])
    start: Start | None = None
    """The start, with the id of the env; None outside a rollout."""
    player: str = AGENT
    """The player whose conversation it is."""
    first_info: Info = field(init=False)
    """The info of the first observation."""
    kept: Any = field(default=None, init=False, repr=False, compare=False)
    """What the policy keeps with the conversation."""

    def __post_init__(self) -> None:
        self.first_info = self.info

    @property
    def system(self) -> str:
        """The system message of the conversation: `info["system"]` of the reset; mostly empty."""
        system = self.first_info.get("system", "")
        return system if isinstance(system, str) else ""

    def add(
        self,
        completion: Completion,
        reward: float,
        observation: Observation,
        info: Info,
        parts: dict[str, float] | None = None,
    ) -> None:
        """Append a turn: the reply to the current observation, its reward, of `parts`, and the next observation."""
        self.turns.append(Turn(self.observation, completion, reward, info, parts or {}))
        self.observation, self.info = observation, info

    def messages(self) -> list[ChatMessage]:
        """The conversation as chat messages: observations from the user, actions from the assistant, after the system
        message of the env, if it has one."""
        return [*messages_of(self.turns, self.system), {"role": "user", "content": self.observation}]


def messages_of(turns: Iterable[Turn], system: str = "") -> list[ChatMessage]:
    """Turns as chat messages, after a system message if that is not empty."""
    messages: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        messages.append({"role": "user", "content": turn.observation})
        messages.append({"role": "assistant", "content": turn.action})
    return messages
