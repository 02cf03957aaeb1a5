"""From a transcript to the ids that the engine reads next: token in, token out.

What the engine sampled is never tokenised again. The next prompt is the ids so far plus the ids of what came between:
the end of the assistant's message, the new observation, and the opening of the next answer.
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

# What a template that rewrites history would not leave as it is: reasoning, and space at the ends.
_SAID = " <think>\nwhy\n</think>\n\nwhat "
_OBSERVED = " seen\n"
# An answer that no template rewrites and no other text holds.
_PLAIN = "\u2603"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the engine must read: new ids to append to its context, or, with `new_segment`, a whole new context."""

    ids: tuple[int, ...]
    new_segment: bool


def _spaced(token: re.Match[str]) -> str:
    return f"{token[0][0]} {token[0][1:]}"


class ChatEncoder:
    """Renders transcripts with a tokenizer's chat template, incrementally.

    Args:
        tokenizer: has a chat template.
        history: what to do where the template renders the conversation so far otherwise than the engine saw it
            (Qwen3's, for one, drops earlier reasoning). `"template"` obeys: the context starts anew as a new
            segment. `"keep"` leaves the engine's context as it is and appends to it.
        template_kwargs: passed to the template, such as `{"enable_thinking": False}`.

    Raises:
        ConfigError: the tokenizer has no chat template, or nothing that ends an answer.
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
        # The longest first: of two that begin alike, a text holds the longer one.
        self._special = (
            re.compile("|".join(map(re.escape, sorted(special, key=len, reverse=True)))) if special else None
        )
        # Observations repeat, above all in small games; rendering and encoding one costs more than a tiny model's step.
        self.encode = lru_cache(maxsize=4096)(self._encode_text)
        self._between = lru_cache(maxsize=4096)(self._after_answer)
        self.end_id = self._find_end_id()
        """The id that ends an answer as the template ends it."""
        self.stop_ids = tuple({self.end_id, cast("int", tokenizer.eos_token_id or self.end_id)})
        """The ids that end an answer when they are sampled: that one, and the end of sequence."""
        self._appends = self._template_appends()

    def _find_end_id(self) -> int:
        closing = self._encode_text(self._after_answer("seen"))
        if closing and closing[0] in self.tokenizer.added_tokens_decoder:
            return closing[0]
        if self.tokenizer.eos_token_id is None:
            raise ConfigError("the tokenizer has no token that ends an answer; set its eos_token")
        return cast("int", self.tokenizer.eos_token_id)

    def _template_appends(self) -> bool:
        """Whether the template leaves history as it was said, so that appending to the context is always right."""
        asked = self._render([{"role": "user", "content": _OBSERVED}])
        messages: list[ChatMessage] = [
            {"role": "user", "content": _OBSERVED},
            {"role": "assistant", "content": _SAID},
            {"role": "user", "content": _OBSERVED},
        ]
        return self._render(messages) == asked + _SAID + self._after_answer(_OBSERVED)

    def _after_answer(self, observation: Observation) -> str:
        """What the template puts between an answer and the next: closing, observation, opening."""
        messages: list[ChatMessage] = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": _PLAIN},
            {"role": "user", "content": observation},
        ]
        _, _, after = self._render(messages).partition(_PLAIN)
        return after

    def prompt(self, transcript: Transcript, context: list[int]) -> Prompt:
        """The ids to read before the next answer.

        Args:
            transcript: ends with the observation to answer.
            context: every id that the engine read or sampled for this transcript, in order; empty at first.
        """
        if not context:
            return Prompt(self._whole(transcript), False)
        observation = transcript.observation
        bridge = self._between(observation) if isinstance(observation, str) else self._after_answer(observation)
        if context[-1] in self.stop_ids:
            # The engine has sampled the beginning of the closing text already, unless it ended in another way.
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
        """What was said with `ids`: without the token that ended it."""
        said = ids[:-1] if ids and ids[-1] in self.stop_ids else ids
        return cast("str", self.tokenizer.decode(list(said)))

    def _whole(self, transcript: Transcript) -> tuple[int, ...]:
        return self.encode(self._render(transcript.messages()))

    def _render(self, messages: list[ChatMessage]) -> str:
        rendered = self.tokenizer.apply_chat_template(
            cast("Any", [self._harmless(message) for message in messages]),
            tokenize=False,
            add_generation_prompt=True,
            **self._template_kwargs,
        )
        return cast("str", rendered)

    def _harmless(self, message: ChatMessage) -> ChatMessage:
        """The message without special tokens in what an env says, which would end its turn and begin another.

        Each is spelt with a space after its first character. What the model itself said stays as it is.
        """
        if message["role"] == "assistant" or self._special is None:
            return message
        special = self._special
        return {**message, "content": map_texts(message["content"], lambda text: special.sub(_spaced, text))}

    def _encode_text(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))
