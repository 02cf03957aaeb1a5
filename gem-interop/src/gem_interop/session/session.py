"""Sessions whose env runs in the calling thread."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, SupportsIndex

from gem import seeding
from gem.chat.encoder import ChatEncoder, History
from gem.chat.tokenizer import ChatTokenizer
from gem.core import Env
from gem.episode import FinishReason
from gem.packs.make import Wrappers
from gem.vector.messages import Build, Maker, SeedStream, SlotMessage, SlotResult
from gem.vector.slot import EnvSlot
from gem_interop.session.dialogue import Dialogue, TokenDialogue, encoder
from gem_interop.session.envs import EnvChoice
from gem_interop.session.messages import Message, MessageDialogue


class _Alone(Dialogue):
    """A dialogue whose env runs in the calling thread."""

    _slot: EnvSlot

    def _run(self, message: SlotMessage) -> SlotResult:
        try:
            return self._slot.run(message, "off")
        except BaseException:  # Ctrl-C, in the middle of a call of the env
            self.close()
            raise

    def close(self) -> None:
        """Abandon the episode, if one is running, and close the env. Closing twice is fine."""
        self._running = None
        self._slot.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session(_Alone, TokenDialogue):
    """Plays episodes with a trainer that generates itself: token in, token out, and never tokenised again.

    ```python
    ids = session.start(seed=0)
    while ids is not None:
        reply = generate(ids, stop=session.stop, stop_ids=session.stop_ids, max_tokens=session.max_tokens)
        ids = session.said(reply.ids, reply.logprobs)
    session.result.segments
    ```

    Args:
        env: an id, a list of ids of which each episode plays one, or an env, which belongs to the session from now on.
        tokenizer: one of transformers, or a `gem.chat.ChatEncoder`.
        max_context: most ids of a context, read and sampled; an episode that fills it is truncated.
        max_new_tokens: most ids of a reply.
        max_turns: turns after which an episode is truncated; by default 1,000, or the `max_turns` of the env, if that
            is more.
        history: what to do if the template renders earlier messages differently; see `gem.chat.ChatEncoder`, whose
            defaults these three have.
        template_kwargs: passed to the template.
        stop_ids: a further id that ends a reply, or several, such as `eos_token_id` of the model's generation config.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.

    Raises:
        ConfigError: an argument is invalid, or an env refuses its kwargs.
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """

    def __init__(
        self,
        env: str | Sequence[str] | Env,
        tokenizer: ChatTokenizer | ChatEncoder | Any,
        *,
        max_context: int | None = None,
        max_new_tokens: int | None = None,
        max_turns: int | None = None,
        history: History | None = None,
        template_kwargs: dict[str, Any] | None = None,
        stop_ids: int | Sequence[int] = (),
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        chat = encoder(tokenizer, history=history, template_kwargs=template_kwargs, stop_ids=stop_ids)
        envs = EnvChoice(env, wrappers, env_kwargs)
        super().__init__(envs, chat, max_context=max_context, max_new_tokens=max_new_tokens, max_turns=max_turns)
        self._slot = built(envs.maker)

    def start(
        self, seed: int, options: Mapping[str, Any] | None = None, *, id: str | None = None, group: int = 0
    ) -> list[int] | None:
        """Start an episode; one that is running is abandoned.

        Args:
            seed: of the reset.
            options: of the reset.
            id: which of several ids to play; by default the first.
            group: the number of this episode among those from the same seed.

        Returns:
            The ids to read before the first reply; None if nothing can be said, because the env failed or the context
            is too short.
        """
        with self._call():
            return self._ids(self._run(self._begin_ids(seed, options, id, group)))

    def said(
        self,
        ids: Sequence[SupportsIndex],
        logprobs: Sequence[float] | None = None,
        finish_reason: FinishReason | None = None,
    ) -> list[int] | None:
        """Pass a reply to the env.

        Args:
            ids: as they were sampled, with the id that ended them, if the engine gives it. What follows an end (one of
                `stop_ids`, or a text of `stop`) or exceeds `max_tokens` is dropped, so an engine may do without either.
            logprobs: of each id, under the distribution that it was drawn from; by default 0, for a trainer that
                computes them itself.
            finish_reason: `"length"` for a reply that was cut before `max_tokens`, and has no end; all else is found
                out from the ids.

        Returns:
            All ids to read before the next reply, those of this one included; None at the end of the episode.

        Raises:
            EpisodeOver, ResetNeeded: no episode is running.
            ConfigError: this is not a reply; the episode waits for one still. Or the chat template refuses what the env
                has answered, and the episode has failed.
            RuntimeError: another task or thread is in a call of this session.
        """
        with self._call():
            return self._ids(self._run(self._say(ids, logprobs, finish_reason)))


class MessageSession(_Alone, MessageDialogue):
    """The same for a trainer that keeps chats.

    ```python
    messages = session.start(seed=0)
    while messages is not None:
        message = chat(messages, tools=session.tools, stop=session.stop)
        messages = session.said(message)
    ```

    Args:
        env: an id, a list of ids, or an env, as for `Session`.
        max_turns: turns after which an episode is truncated.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.
    """

    def __init__(
        self,
        env: str | Sequence[str] | Env,
        *,
        max_turns: int | None = None,
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        envs = EnvChoice(env, wrappers, env_kwargs)
        super().__init__(envs, max_turns)
        self._slot = built(envs.maker)

    def start(
        self, seed: int, options: Mapping[str, Any] | None = None, *, id: str | None = None, group: int = 0
    ) -> list[Message] | None:
        """Start an episode; returns the messages before the first reply, or None if the env failed."""
        with self._call():
            return self._messages(self._run(self._begin(seed, options, id, group)))

    def said(self, message: str | Message, finish_reason: FinishReason | None = None) -> list[Message] | None:
        """Pass a reply to the env.

        Args:
            message: its text, or an assistant's message with `content` and `tool_calls`.
            finish_reason: `"length"` for a reply that was cut. After `"stop"` the text of `stop` that a chat API left
                out is put back.

        Returns:
            The whole conversation with what follows the reply; None at the end of the episode.

        Raises:
            EpisodeOver, ResetNeeded: no episode is running.
            ConfigError: this is not a reply, or one that broke off; the episode waits for one still.
            RuntimeError: another task or thread is in a call of this session.
        """
        with self._call():
            return self._messages(self._run(self._say(message, finish_reason)))


def built(maker: Maker) -> EnvSlot:
    """A slot whose env is built already, so that refused settings raise here."""
    slot = EnvSlot(0, maker, SeedStream(seeding.fresh()))
    step = slot.run(Build(), "off").step
    if step is not None and step.info["refused"] is not None:
        raise step.info["refused"]
    return slot
