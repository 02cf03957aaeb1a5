"""What was said: a turn, a transcript that grows, and an episode that is finished."""

import math
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gem.core import ChatMessage, Info, Observation
from gem.failure import Failure
from gem.packs.spec import EnvSpec

FinishReason = Literal["stop", "length"]
"""Whether a reply ended by itself or at a limit."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a policy answered: the `text` for the env, and, from a policy that samples tokens, the tokens themselves.

    `finish_reason` is "length" where a limit cut the reply off.

    `prompt_ids` are the ids that the engine read since its own last token of this transcript (or, with
    `new_segment`, since the beginning, because the chat template rewrote the history); `ids` are the ids it sampled,
    the stop token included; `logprobs` are their log-probabilities under the distribution they were drawn from.
    """

    text: str
    prompt_ids: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finish_reason: FinishReason = "stop"
    new_segment: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """An `observation`, the agent's `completion`, and the `reward` and `info` that followed."""

    observation: Observation
    completion: Completion
    reward: float
    info: Info

    @property
    def action(self) -> str:
        """The text that went to the env."""
        return self.completion.text


@dataclass(slots=True)
class Transcript:
    """The conversation so far: its `turns`, and an `observation` with its `info` that waits for an answer."""

    observation: Observation
    info: Info = field(default_factory=dict[str, Any])
    turns: list[Turn] = field(default_factory=list[Turn])

    def add(self, completion: Completion, reward: float, observation: Observation, info: Info) -> None:
        """Append the answer to the waiting observation, and the observation that followed it."""
        self.turns.append(Turn(self.observation, completion, reward, info))
        self.observation, self.info = observation, info

    def messages(self) -> list[ChatMessage]:
        """The conversation as chat messages: observations from the user, actions from the assistant."""
        messages: list[ChatMessage] = []
        for turn in self.turns:
            messages.append({"role": "user", "content": turn.observation})
            messages.append({"role": "assistant", "content": turn.action})
        messages.append({"role": "user", "content": self.observation})
        return messages


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished transcript with its rewards.

    Played on the environment `id` from `seed`, in `turns` that ended `terminated` or `truncated`. `success` is the
    env's `info["success"]`; `failure` says what failed, if anything did.
    """

    id: str
    seed: int
    group: int
    """Which of the episodes from this seed it is, counting from 0."""
    turns: tuple[Turn, ...]
    observation: Observation
    """The last observation, to which nobody answered."""
    terminated: bool
    truncated: bool
    success: bool
    failure: Failure | None = None
    failed_on: Completion | None = None
    """What the agent had said when the env failed; None if it failed at its reset, or the policy did, or nobody."""
    cut_off: bool = False
    """Whether it was the rollout that truncated it, because the env did not end."""
    spec: EnvSpec | None = None
    """What `gem.make` builds this episode's env from; None for an env that was built by hand."""
    started: datetime | None = field(default=None, compare=False)
    """When its reset was sent, with the time zone."""
    seconds: float = field(default=0.0, compare=False)
    """How long it took from then to its end."""

    @property
    def rewards(self) -> tuple[float, ...]:
        """One reward a turn."""
        return tuple(turn.reward for turn in self.turns)

    @property
    def total_reward(self) -> float:
        """The undiscounted return of the episode."""
        # Correctly rounded, so the same on every version of Python: `sum` of floats is not.
        return math.fsum(self.rewards)
