"""Chat templates: from a transcript to the ids that the engine reads next; token in, token out.

Sampled ids are never tokenised again. The next prompt is the ids so far plus the ids of the text between two replies:
the end of the assistant's message, the new observation, and the beginning of the next message.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from transformers import PreTrainedTokenizerBase

from gem.core import ChatMessage, Observation
from gem.errors import ConfigError
from gem.rollout.transcript import Transcript
from gem.tool.content import map_texts

History = Literal["template", "keep"]

# A reply that templates which rewrite history change: reasoning, and space at both ends.
_REPLY = " <think>\nwhy\n</think>\n\nwhat "
_OBSERVED = " seen\n"
# A reply that no template rewrites and no other text contains.
_PLAIN = "\u2603"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the engine reads: ids to append to its context, or, with `new_segment`, a whole new context."""

    ids: tuple[int, ...]
    new_segment: bool


def _spaced(token: re.Match[str]) -> str:
    return f"{token[0][0]} {token[0][1:]}"


class ChatEncoder:
    """Renders transcripts with a tokenizer's chat template, incrementally.

    Args:
        tokenizer: has a chat template.
        history: what to do if the template now renders earlier messages differently (Qwen3's, for example, drops
            earlier reasoning). `"template"` follows it: the context restarts as a new segment. `"keep"` leaves the
            engine's context as it is and appends to it.
        template_kwargs: passed to the template, such as `{"enable_thinking": False}`.

    Raises:
        ConfigError: the tokenizer has no chat template, or no token that ends a reply.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        history: History = "template",
        template_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if not tokenizer.chat_template:
            raise ConfigError(
                f"{tokenizer.name_or_path!r} has no chat template; use a chat model, or set tokenizer.chat_template"
            )
        self.tokenizer = tokenizer
        self._history = history
        self._template_kwargs = template_kwargs or {}
        special = [
            str(token) for token in tokenizer.added_tokens_decoder.values() if token.special and len(str(token)) > 1
        ]
        # The longest first: of two with a common beginning, the longer one matches.
        self._special = (
            re.compile("|".join(map(re.escape, sorted(special, key=len, reverse=True)))) if special else None
        )
        # Observations repeat, above all in small games; rendering and encoding one costs more than a tiny model's step.
        self.encode = lru_cache(maxsize=4096)(self._encode_text)
        self._cached_between = lru_cache(maxsize=4096)(self._between_replies)
        self.end_id = self._find_end_id()
        """The id with which the template ends a reply."""
        self.stop_ids = tuple({self.end_id, cast("int", tokenizer.eos_token_id or self.end_id)})
        """The ids that end a reply when they are sampled: `end_id`, and the end of sequence."""
        self._appends = self._template_appends()

    def _find_end_id(self) -> int:
        closing = self._encode_text(self._between_replies("seen"))
        if closing and closing[0] in self.tokenizer.added_tokens_decoder:
            return closing[0]
        if self.tokenizer.eos_token_id is None:
            raise ConfigError("the tokenizer has no token that ends a reply; set its eos_token")
        return cast("int", self.tokenizer.eos_token_id)

    def _template_appends(self) -> bool:
        """Whether the template leaves earlier messages as they are, so that appending is always right."""
        asked = self._render([{"role": "user", "content": _OBSERVED}])
        messages: list[ChatMessage] = [
            {"role": "user", "content": _OBSERVED},
            {"role": "assistant", "content": _REPLY},
            {"role": "user", "content": _OBSERVED},
        ]
        return self._render(messages) == asked + _REPLY + self._between_replies(_OBSERVED)

    def _between_replies(self, observation: Observation) -> str:
        """The text between two replies: the end of the message, the observation, the beginning of the next message."""
        messages: list[ChatMessage] = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": _PLAIN},
            {"role": "user", "content": observation},
        ]
        _, _, after = self._render(messages).partition(_PLAIN)
        return after

    def prompt(self, transcript: Transcript, context: list[int]) -> Prompt:
        """The ids to read before the next reply.

        Args:
            transcript: ends with the observation to answer.
            context: every id that the engine read or sampled for this transcript, in order; empty at first.
        """
        if not context:
            return Prompt(self._whole(transcript), False)
        observation = transcript.observation
        if isinstance(observation, str):
            bridge = self._cached_between(observation)
        else:
            bridge = self._between_replies(observation)
        if context[-1] in self.stop_ids:
            # The engine sampled the beginning of this text already, unless the reply ended in another way.
            stop = cast("str", self.tokenizer.decode(context[-1:]))
            bridge = bridge.removeprefix(stop)
        if (
            not self._appends
            and self._history == "template"
            and cast("str", self.tokenizer.decode(context)) + bridge != self._render(transcript.messages())
        ):
            return Prompt(self._whole(transcript), True)
        return Prompt(self.encode(bridge), False)

    def text(self, ids: tuple[int, ...]) -> str:
        """The text of a reply, without the token that ended it."""
        reply = ids[:-1] if ids and ids[-1] in self.stop_ids else ids
        return cast("str", self.tokenizer.decode(list(reply)))

    def _whole(self, transcript: Transcript) -> tuple[int, ...]:
        return self.encode(self._render(transcript.messages()))

    def _render(self, messages: list[ChatMessage]) -> str:
        rendered = self.tokenizer.apply_chat_template(
            cast("Any", [self._escape(message) for message in messages]),
            tokenize=False,
            add_generation_prompt=True,
            **self._template_kwargs,
        )
        return cast("str", rendered)

    def _escape(self, message: ChatMessage) -> ChatMessage:
        """The message with special tokens in an observation made harmless: they would end it and begin another message.

        Each is spelt with a space after its first character. The model's own replies stay as they are.
        """
        if message["role"] == "assistant" or self._special is None:
            return message
        special = self._special
        return {**message, "content": map_texts(message["content"], lambda text: special.sub(_spaced, text))}

    def _encode_text(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))
