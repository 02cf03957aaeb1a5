"""Many sessions at once in an event loop."""

from collections.abc import Mapping, Sequence
from typing import Any, Never, Self, SupportsIndex

from gem.chat.encoder import ChatEncoder, History
from gem.chat.tokenizer import ChatTokenizer
from gem.checks import check_int, finite
from gem.core import Env
from gem.episode import Episode, FinishReason
from gem.errors import ConfigError, ResetNeeded
from gem.packs.make import Wrappers
from gem.vector.messages import SlotMessage, SlotResult
from gem_interop.session.dialogue import Dialogue, TokenDialogue, encoder
from gem_interop.session.envs import EnvChoice
from gem_interop.session.messages import Message, MessageDialogue
from gem_interop.session.seat import Seat
from gem_interop.session.threads import EnvThreads


class _Seated(Dialogue):
    """A dialogue with a seat, which it leaves when its episode ends."""

    _seat: Seat

    def close(self) -> None:
        """Abandon the episode, if one is running, and give its env back."""
        self._running = None
        self._seat.leave()

    async def _reset(self, message: SlotMessage) -> SlotResult:
        await self._seat.take()
        if self._running is None:
            self._seat.leave()
            raise ResetNeeded("this session was closed while it waited for an env")
        return await self._seat.run(message)

    def _end(self, episode: Episode) -> None:
        super()._end(episode)
        self._seat.leave()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncSession(_Seated, TokenDialogue):
    """A `Session` in an event loop; `Sessions.session` makes one. It may be used for one episode after another.

    Leave it by `async with`, or close it: an episode that does not reach its end keeps its env until then.
    """

    def __init__(self, threads: EnvThreads, envs: EnvChoice, chat: ChatEncoder, **limits: int | None) -> None:
        super().__init__(envs, chat, **limits)
        self._seat = Seat(threads)

    async def start(
        self, seed: int, options: Mapping[str, Any] | None = None, *, id: str | None = None, group: int = 0
    ) -> list[int] | None:
        """Start an episode, as `Session.start`; waits for an env that is free."""
        with self._call():
            return self._ids(await self._reset(self._begin_ids(seed, options, id, group)))

    async def said(
        self,
        ids: Sequence[SupportsIndex],
        logprobs: Sequence[float] | None = None,
        finish_reason: FinishReason | None = None,
    ) -> list[int] | None:
        """Pass a reply to the env, as `Session.said`."""
        with self._call():
            return self._ids(await self._seat.run(self._say(ids, logprobs, finish_reason)))


class AsyncMessageSession(_Seated, MessageDialogue):
    """A `MessageSession` in an event loop; `Sessions.message_session` makes one."""

    def __init__(self, threads: EnvThreads, envs: EnvChoice, max_turns: int | None) -> None:
        super().__init__(envs, max_turns)
        self._seat = Seat(threads)

    async def start(
        self, seed: int, options: Mapping[str, Any] | None = None, *, id: str | None = None, group: int = 0
    ) -> list[Message] | None:
        """Start an episode, as `MessageSession.start`; waits for an env that is free."""
        with self._call():
            return self._messages(await self._reset(self._begin(seed, options, id, group)))

    async def said(self, message: str | Message, finish_reason: FinishReason | None = None) -> list[Message] | None:
        """Pass a reply to the env, as `MessageSession.said`."""
        with self._call():
            return self._messages(await self._seat.run(self._say(message, finish_reason)))


class Sessions:
    """Many sessions at once. Envs run in threads, so that none of them keeps the event loop from others.

    ```python
    async with Sessions("game:Wordle-v0", tokenizer, most=64) as sessions:
        results = await asyncio.gather(*(play(sessions, seed) for seed in range(1000)))
    ```

    Args:
        env: an id, or a list of ids of which each episode plays one.
        tokenizer: as for `Session`; None for chat messages only.
        most: envs, and so episodes at once; more of them wait.
        step_timeout: seconds that one call of an env may take, after which its episode fails.
        max_context: as for `Session`, as are the other settings.

    Raises:
        ConfigError: an argument is invalid.
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """

    def __init__(
        self,
        env: str | Sequence[str],
        tokenizer: ChatTokenizer | ChatEncoder | Any = None,
        *,
        most: int = 64,
        step_timeout: float | None = None,
        max_context: int | None = None,
        max_new_tokens: int | None = None,
        max_turns: int | None = None,
        history: History | None = None,
        template_kwargs: dict[str, Any] | None = None,
        stop_ids: int | Sequence[int] = (),
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(env, Env):
            raise ConfigError("sessions at once need envs of their own: give the id instead of an env")
        settings: dict[str, Any] = {"history": history, "template_kwargs": template_kwargs, "stop_ids": stop_ids}
        self._chat = None if tokenizer is None else encoder(tokenizer, **settings)
        self._limits = {"max_context": max_context, "max_new_tokens": max_new_tokens, "max_turns": max_turns}
        self._envs = EnvChoice(env, wrappers, env_kwargs)
        if step_timeout is not None and not finite("step_timeout", step_timeout) > 0:
            raise ConfigError(f"step_timeout must be above 0 seconds, not {step_timeout}")
        self._threads = EnvThreads(self._envs.maker, check_int("most", most, 1), step_timeout)

    def __reduce__(self) -> Never:
        raise TypeError("Sessions have threads of this process, so they are neither pickled nor copied: make them anew")

    def session(self) -> AsyncSession:
        """A session with ids. It has an env from the start of an episode to its end.

        Raises:
            ConfigError: there is no tokenizer.
        """
        if self._chat is None:
            raise ConfigError("a session with ids needs a tokenizer: Sessions(env, tokenizer)")
        return AsyncSession(self._threads, self._envs, self._chat, **self._limits)

    def message_session(self) -> AsyncMessageSession:
        """A session with chat messages."""
        return AsyncMessageSession(self._threads, self._envs, self._limits["max_turns"])

    async def close(self) -> None:
        """Close every env and end every thread; sessions that wait for one raise. Closing twice is fine."""
        await self._threads.close()

    async def __aenter__(self) -> Self:
        """Builds one env, so that refused settings raise here."""
        try:
            await self._threads.check()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
