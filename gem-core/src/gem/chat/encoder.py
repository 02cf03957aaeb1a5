"""Chat templates: from a transcript to the ids that the engine reads next; token in, token out.

Sampled ids are never tokenised again. The next prompt is the ids so far plus the ids of the text between two replies:
the end of the assistant's message, the new observation, and the beginning of the next message.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast, get_args

from gem.chat.marking import SPLIT, Marking, unmarked
from gem.chat.tokenizer import ChatTokenizer
from gem.checks import check_int
from gem.core import ChatMessage, Observation
from gem.episode import Completion
from gem.errors import ConfigError, GemError, one_line
from gem.rollout.transcript import Transcript
from gem.tool.content import map_texts

History = Literal["template", "keep"]

# A reply that templates which rewrite history change: reasoning, and space at both ends.
_REPLY = " <think>\nwhy\n</think>\n\nwhat "
_OBSERVED = " seen\n"
# A reply that no template rewrites and no other text contains.
_PLAIN = "\u2603"
_THOUGHTS, _NO_MORE = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ids for an engine to append to its context, or, with `new_segment`, a whole new context."""

    ids: tuple[int, ...]
    """The ids to read; never empty."""
    new_segment: bool
    """True if the context begins anew with `ids`, because the template changed earlier messages."""


class ChatEncoder:
    """Renders transcripts with a tokenizer's chat template, incrementally.

    Args:
        tokenizer: one of transformers that has a chat template.
        history: what to do if the template now renders earlier messages differently (Qwen3's, for example, drops
            earlier reasoning). `"template"` follows it: the context restarts as a new segment. `"keep"` leaves the
            engine's context as it is and appends to it.
        template_kwargs: passed to the template, such as `{"enable_thinking": False}`.
        stop_ids: a further id that ends a reply, or several, such as `eos_token_id` of the model's generation config.

    Raises:
        ConfigError: the tokenizer has no chat template, or one that leaves out messages whose content is text; it has
            no token that ends a reply; or a setting is invalid.
    """

    def __init__(
        self,
        tokenizer: ChatTokenizer,
        *,
        history: History = "template",
        template_kwargs: dict[str, Any] | None = None,
        stop_ids: int | Iterable[int] = (),
    ) -> None:
        name = repr(tokenizer.name_or_path)
        if not tokenizer.chat_template:
            raise ConfigError(f"{name} has no chat template; use a chat model, or set tokenizer.chat_template")
        if history not in get_args(History):
            raise ConfigError(f"history is 'template' or 'keep', not {history!r}")
        self.tokenizer = tokenizer
        """The tokenizer."""
        self.history: History = history
        """The setting `history`."""
        self._template_kwargs = template_kwargs or {}
        self._marking = Marking(tokenizer)
        self._foreign: frozenset[int] = frozenset()
        self._closing: frozenset[int] = frozenset()
        # Observations repeat, above all in small games; rendering and encoding one costs more than a tiny model's step.
        self.encode = lru_cache(maxsize=4096)(self._encode_text)
        """`encode(text)`: its ids."""
        self._cached_between = lru_cache(maxsize=4096)(self._between_replies)
        asked = self._render([{"role": "user", "content": "seen"}])
        if "seen" not in asked:
            raise ConfigError(
                f"the chat template of {name} leaves out messages whose content is text: set tokenizer.chat_template "
                "to one that shows them"
            )
        frame = self._encode_text(asked)
        closing = self._encode_text(self._between_replies("seen"))
        eos = cast("int | None", tokenizer.eos_token_id)
        end_id = closing[0] if closing and closing[0] in tokenizer.added_tokens_decoder else eos
        if end_id is None:
            raise ConfigError("the tokenizer has no token that ends a reply; set its eos_token")
        self.end_id = end_id
        """The id with which the template ends a reply."""
        given = [stop_ids] if isinstance(stop_ids, int) else stop_ids
        further = [check_int("an id of stop_ids", id, 0) for id in given]
        self.stop_ids: tuple[int, ...] = tuple(dict.fromkeys((self.end_id, *([] if eos is None else [eos]), *further)))
        """The ids that end a reply when they are sampled: `end_id`, the end of sequence, and those that were given."""
        self._stops = frozenset(self.stop_ids)
        # Of the tokens that were added to the vocabulary, those that could end a message or begin another.
        added = tokenizer.added_tokens_decoder
        named = tokenizer.all_special_ids
        special = {id for id, token in added.items() if token.special or id in named}
        special.discard(cast("int", tokenizer.unk_token_id))  # unknown characters, which no text can spell
        self._closing = frozenset(self._stops & added.keys())
        self._foreign = frozenset(special | ({*frame, *closing} & added.keys()) | self._closing)
        self._opening = self._find_opening()
        self.appends = self._template_appends()
        """True if the template leaves earlier messages as they are, so that appending is always right."""

    def _find_opening(self) -> str:
        """The beginning of a reply by the template: Mistral's has a space before it, which is not in the prompt."""
        asked = self._render([{"role": "user", "content": "?"}])
        if asked.rstrip().endswith(_THOUGHTS):
            return f"\n{_NO_MORE}\n\n"
        messages: list[ChatMessage] = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PLAIN}]
        before, _, _ = self._render(messages).partition(_PLAIN)
        return before.removeprefix(asked) if before.startswith(asked) else ""

    def _template_appends(self) -> bool:
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

    def prompt(self, transcript: Transcript, context: list[int], *, history: History | None = None) -> Prompt:
        """The ids to read before the next reply.

        Args:
            transcript: ends with the observation to answer.
            context: every id that the engine read or sampled for this transcript, in order; empty at first.
            history: another than the encoder's.
        """
        if not context:
            return Prompt(self._whole(transcript), False)
        observation = transcript.observation
        cached = isinstance(observation, str)  # others cannot be hashed
        bridge = self._cached_between(observation) if cached else self._between_replies(observation)
        if context[-1] in self._stops:
            # The engine sampled the beginning of this text already, unless the reply ended in another way.
            bridge = bridge.removeprefix(self.decode(context[-1:]))
        if not self.appends and (history or self.history) == "template":
            shown = self.decode(context) + unmarked(bridge)
            if shown != unmarked(self._render(transcript.messages())):
                return Prompt(self._whole(transcript), True)
        return Prompt(self.encode(bridge), False)

    def text(self, ids: tuple[int, ...]) -> str:
        """The text of a reply, without the token that ended it."""
        return self.decode(ids[:-1] if ids and ids[-1] in self._stops else ids)

    def reply(self, text: str) -> tuple[int, ...]:
        """The ids that a model would sample to give a reply that is known as text, with the token that ends it.

        They begin as the template begins a reply: with a space, for example, or the end of thoughts that the prompt
        opened, unless the text ends them.
        """
        opening = "" if _NO_MORE in text and _NO_MORE in self._opening else self._opening
        return (*self.encode(opening + self._marking.mark(text, self._closing)), self.end_id)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, without the changes that some tokenizers make to spaces."""
        return cast("str", self.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    def as_sampled(
        self, turns: Iterable[tuple[Observation, str]], *, system: str = "", history: History | None = None
    ) -> Iterator[Completion]:
        """The completions of a conversation that another policy had, as if the engine had read and sampled it.

        Args:
            turns: each observation, and the reply to it.
            system: the system message before them.
            history: another than the encoder's.
        """
        context: list[int] = []
        past = Transcript("", {"system": system} if system else {})
        for observation, text in turns:
            past.observation = observation
            prompt = self.prompt(past, context, history=history)
            ids = self.reply(text)
            context = [*([] if prompt.new_segment else context), *prompt.ids, *ids]
            said = Completion(
                self.text(ids), prompt.ids, ids, (0.0,) * len(ids), "stop", new_segment=prompt.new_segment
            )
            yield said
            past.add(said, 0.0, "", {})

    def _whole(self, transcript: Transcript) -> tuple[int, ...]:
        return self.encode(self._render(transcript.messages()))

    def _render(self, messages: list[ChatMessage]) -> str:
        marked = [{**message, "content": self._marked(message)} for message in messages]
        try:
            rendered = self.tokenizer.apply_chat_template(
                cast("Any", marked), tokenize=False, add_generation_prompt=True, **self._template_kwargs
            )
        except GemError:
            raise
        except Exception as error:  # whatever a template does
            raise ConfigError(
                f"the chat template of {self.tokenizer.name_or_path!r} cannot render a conversation of "
                f"{len(messages)} messages: {one_line(error)}"
            ) from error
        return cast("str", rendered)

    def _marked(self, message: ChatMessage) -> Observation:
        """The content with special tokens marked that would end the message, and in an observation all of them.

        Of the tokens that were added to a vocabulary and are not special, those that the template itself writes are
        marked too; others, such as `<tool_response>` in Qwen's, are words that an observation is meant to have.
        """
        ids = self._closing if message["role"] == "assistant" else self._foreign
        content = message["content"]
        if isinstance(content, str):
            return self._marking.mark(content, ids)
        for part in content:
            if "text" not in part:
                raise ConfigError(
                    f"an observation has a part of the type {part['type']!r}, and models are trained on text. Some "
                    "environments have a setting for words instead of images, such as figure='text' of math:Geometry-v0"
                )
        whole = "".join(part["text"] for part in content)
        # A template may join the parts of a message.
        apart = "" if self._marking.mark(whole, ids) == whole else SPLIT
        return map_texts(content, lambda text: apart + self._marking.mark(text, ids))

    def _encode_text(self, text: str) -> tuple[int, ...]:
        return self._marking.encode(text, self._foreign)
