"""Turns: an observation, the reply to it, and the reward that followed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from gem.errors import ConfigError

if TYPE_CHECKING:
    from gem.core import Info, Observation
else:  # for the codec: a part keeps whatever fields it has
    Observation = str | list[dict[str, Any]]
    Info = dict[str, Any]

FinishReason = Literal["stop", "length", "context"]
"""How a reply ended: by itself, at a token limit, or because the conversation reached the limit of the model's context.
"""


class TokenTexts(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The tokens of a reply for people to look at, as far as they are known. `gemx view` shows them.

    `logprobs` and `mask`, where they are not empty, have one number per token.

    Raises:
        ConfigError: their lengths differ, or the mask has other numbers.
    """

    text: tuple[str, ...]
    """Of each token; joined they are the reply. Of tokens that share a character, the last one has it."""
    logprobs: tuple[float, ...] = ()
    """Of each token when it was sampled: natural logarithms, at most 0."""
    mask: tuple[int, ...] = ()
    """1 for each token that a training run learned from, 0 for each that it left out; empty if it left out none."""
    prompt: str | None = None
    """The text that the model read after its last token of this episode, with the marks of its chat template."""

    def __post_init__(self) -> None:
        for name in ("logprobs", "mask"):
            given = len(getattr(self, name))
            if given not in (0, len(self.text)):
                raise ConfigError(f"tokens have {len(self.text)} texts and {given} values of {name}")
        if not {0, 1}.issuperset(self.mask):
            raise ConfigError(f"a mask of tokens has ones and zeros, not {self.mask!r:.80}")


class Usage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tokens, requests and seconds that replies took; usages can be added."""

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
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


class ApiTools(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tools that the request of a chat API has, in place of the text about them."""

    functions: tuple[dict[str, Any], ...]
    """The description of each as these APIs take it."""
    text: tuple[str, ...] = ()
    """The parts of the first observation that describe them, and that the model does not read."""


class Completion(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A reply of a policy: its `text`, its tokens, if it samples tokens, and its `finish_reason`.

    With the finish reason `context`, a reply with ids was cut there, as one at a token limit. Without a text and ids
    nothing could be said: the rollout truncates the episode at its last turn.
    """

    text: str
    prompt_ids: tuple[int, ...] = ()
    """The ids that the engine read after its last sampled token of this conversation; with `new_segment`, from the
    beginning."""
    ids: tuple[int, ...] = ()
    """The sampled ids, the stop token included."""
    logprobs: tuple[float, ...] = ()
    """Of each sampled id, under the sampling distribution."""
    finish_reason: FinishReason = "stop"
    new_segment: bool = False
    """Whether the chat template changed the history, so that the engine read anew from the beginning."""
    weight_versions: tuple[int, ...] = ()
    """The versions of the weights under which the ids were sampled, in order, each once."""
    tokens: TokenTexts | None = None
    """Its tokens for people to look at."""
    usage: Usage | None = None
    """Tokens and seconds that a server counted."""
    reasoning: str = ""
    """Text that the model wrote before the reply, if that is not part of it."""
    tools: ApiTools | None = None
    """The tools of a conversation's requests, if they have any; with its first reply only."""

    @property
    def out_of_context(self) -> bool:
        """Whether nothing could be said, because the conversation fills the model's context."""
        return self.finish_reason == "context" and not self.text and not self.ids


class Turn(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An `observation`, the player's `completion`, and the `reward` and `info` that followed.

    A reward may have `parts` with names; then it is their sum (`math.fsum`). In a game for several players it is all
    that the player earned until the next turn of the same player.
    """

    observation: Observation
    completion: Completion
    reward: float
    info: Info
    parts: Mapping[str, float] = {}

    @property
    def action(self) -> str:
        """The text of the completion."""
        return self.completion.text
