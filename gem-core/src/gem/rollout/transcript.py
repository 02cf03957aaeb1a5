"""Starts of episodes, turns, growing transcripts, and finished episodes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gem import seeding
from gem.checks import check_int
from gem.core import ChatMessage, Info, Observation
from gem.errors import ConfigError
from gem.failure import Failure
from gem.packs.spec import EnvSpec

FinishReason = Literal["stop", "length", "context"]
"""Whether a reply ended by itself, at a token limit, or because the conversation reached the limit of the model's
context."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where an episode starts: `seed` and `options` of the reset of the env `id` (by default that of the slot).

    Equal starts give equal episodes, but for the noise of the policy; their `group` tells them apart.

    Raises:
        TypeError, ValueError: see `gem.seeding.check_seed`.
        ConfigError: `group` is not an integer >= 0.
    """

    seed: int
    id: str | None = None
    options: Mapping[str, Any] | None = field(default=None, hash=False)
    group: int = 0
    """Its index among the episodes from this start."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", seeding.check_seed(self.seed))  # a NumPy integer becomes an int
        check_int("group", self.group, 0)


@dataclass(frozen=True, slots=True)
class TokenTexts:
    """The tokens of a reply for people to look at, as far as they are known. `gemx view` shows them.

    `logprobs` and `mask`, where they are not empty, have one number per token.

    Raises:
        ConfigError: their lengths differ.
    """

    text: tuple[str, ...]
    """Of each token; joined they are the reply. Of tokens that share a character, the last one has it."""
    logprobs: tuple[float, ...] = ()
    """Of each token when it was sampled: natural logarithms, at most 0."""
    mask: tuple[int, ...] = ()
    """1 for each token that a training run learned from, 0 for each that it left out; empty if it left out none."""
    prompt: str | None = None
    """What the model read after its last token of this episode, with the marks of its chat template."""

    def __post_init__(self) -> None:
        for name in ("logprobs", "mask"):
            given = len(getattr(self, name))
            if given not in (0, len(self.text)):
                raise ConfigError(f"tokens have {len(self.text)} texts and {given} values of {name}")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a server counted for replies, and how long they took; usages can be added."""

    prompt: int = 0
    """Tokens that were read, the `cached` ones included."""
    completion: int = 0
    """Tokens that were sampled, those of the `reasoning` included."""
    cached: int = 0
    """Tokens of the prompt that came from the server's cache, where it says so."""
    reasoning: int = 0
    """Tokens of the completion that are not part of the reply, where it says so."""
    seconds: float = 0.0
    """From sending the request that was answered to its answer."""
    requests: int = 0
    """Requests that were made, those that failed included."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.seconds + other.seconds,
            self.requests + other.requests,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply of a policy: its `text`, its tokens, if it samples tokens, and its `finish_reason`.

    `prompt_ids` are the ids that the engine read after its last sampled token of this transcript (with `new_segment`,
    from the beginning, because the chat template changed the history); `ids` are the sampled ids, the stop token
    included; `logprobs` are their log-probabilities under the sampling distribution; `weight_versions` are the versions
    of the weights under which they were sampled, in order, each once. `tokens` are only for people, and for recordings.
    `usage` is what a server counted. `reasoning` is what the model wrote before the reply, if that is not part of it.

    With the finish reason `context`, a reply with ids was cut there, as one at a token limit. Without a text and ids
    nothing could be said: the rollout truncates the episode at its last turn.
    """

    text: str
    prompt_ids: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finish_reason: FinishReason = "stop"
    new_segment: bool = False
    weight_versions: tuple[int, ...] = ()
    tokens: TokenTexts | None = None
    usage: Usage | None = None
    reasoning: str = ""

    @property
    def out_of_context(self) -> bool:
        """Whether nothing could be said, because the conversation fills the model's context."""
        return self.finish_reason == "context" and not self.text and not self.ids


@dataclass(frozen=True, slots=True)
class Turn:
    """An `observation`, the agent's `completion`, and the `reward` and `info` that followed."""

    observation: Observation
    completion: Completion
    reward: float
    info: Info

    @property
    def action(self) -> str:
        """The text of the completion."""
        return self.completion.text


@dataclass(slots=True)
class Transcript:
    """A conversation: its `turns`, the current `observation` with its `info`, and where it started."""

    observation: Observation
    info: Info = field(default_factory=dict[str, Any])
    turns: list[Turn] = field(default_factory=list[Turn])
    start: Start | None = None
    """With the id of the env; None outside a rollout."""
    first_info: Info = field(init=False)
    """The info of the reset."""

    def __post_init__(self) -> None:
        self.first_info = self.info

    def add(self, completion: Completion, reward: float, observation: Observation, info: Info) -> None:
        """Append a turn: the reply to the current observation, and the next observation."""
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
    """A finished episode of the environment `id` from `seed`, with its `turns`.

    It ended `terminated` or `truncated`; `success` is `info["success"]` of the last step; `failure` is None unless the
    env or the policy failed.
    """

    id: str
    seed: int
    group: int
    """Its index among the episodes from this seed."""
    turns: tuple[Turn, ...]
    observation: Observation
    """The last observation, without a reply."""
    terminated: bool
    truncated: bool
    success: bool
    failure: Failure | None = None
    failed_on: Completion | None = None
    """The reply at which the env failed; None if it failed at its reset, if the policy failed, or without a failure."""
    cut_off: bool = False
    """Whether the rollout truncated it: at its turn limit, or because it was `out_of_context`."""
    out_of_context: bool = False
    """Whether its conversation filled the model's context, so that the policy could not reply."""
    options: Mapping[str, Any] | None = None
    """The options of its reset."""
    spec: EnvSpec | None = None
    """The spec of the env; None if it was built by hand."""
    started: datetime | None = field(default=None, compare=False)
    """The time of its reset, with the time zone."""
    seconds: float = field(default=0.0, compare=False)
    """Seconds from its reset to its end."""

    @property
    def start(self) -> Start:
        """Where it started."""
        return Start(self.seed, self.id, self.options, self.group)

    @property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each turn."""
        return tuple(turn.reward for turn in self.turns)

    @property
    def total_reward(self) -> float:
        """The undiscounted return of the episode."""
        # `sum` of floats depends on the version of Python.
        return math.fsum(self.rewards)
