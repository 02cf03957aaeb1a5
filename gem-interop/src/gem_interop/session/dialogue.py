"""Work of a session between two calls of its env: no input or output, so that any trainer can drive it."""

import math
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any, Never, SupportsIndex, cast

from gem.chat.conversation import Conversation
from gem.chat.encoder import ChatEncoder
from gem.chat.stops import StopTexts
from gem.chat.tokenizer import ChatTokenizer
from gem.checks import check_int
from gem.episode import Completion, Episode, FinishReason, Start, Turn
from gem.errors import ConfigError, EpisodeOver, Failure, ResetNeeded, failure_of
from gem.rollout.running import RunningEpisode
from gem.rollout.transcript import Transcript
from gem.vector.messages import Reset, SlotResult
from gem_interop.session.envs import EnvChoice
from gem_interop.session.result import Result

_MOST_IDS = 2**32
"""A token id is below; tokenizers count in 32 bits."""
_ROUNDED = 0.1
"""A log-probability is at most 0, but for the error of an engine in half precision."""


class Dialogue:
    """One episode after another, as a message for the env and its result at a time.

    Args:
        envs: what is played.
        max_turns: turns after which an episode is truncated; see `gem.rollout.rollout`.
    """

    def __init__(self, envs: EnvChoice, max_turns: int | None = None) -> None:
        self._envs = envs
        self._max_turns = None if max_turns is None else check_int("max_turns", max_turns, 1)
        self._running: RunningEpisode | None = None
        self._result: Result | None = None
        self._calling = threading.Lock()

    def __reduce__(self) -> Never:
        raise TypeError(
            f"{type(self).__name__} has an env of this process, so it is neither pickled nor copied: make it where it "
            "is used. Its `result` can be pickled"
        )

    @property
    def result(self) -> Result:
        """The episode that has ended.

        Raises:
            ResetNeeded: none has.
        """
        if self._result is None:
            raise ResetNeeded("the episode of this session has not ended")
        return self._result

    @property
    def ended(self) -> bool:
        """True if there is a result, so that nothing is to be said."""
        return self._result is not None

    @property
    def player(self) -> str:
        """The player who speaks next; in most envs there is one."""
        return self._playing.player

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that the env has answered so far, with their rewards: of the episode that has ended, or of the
        player who speaks next."""
        return self._result.episode.turns if self._result else tuple(self._transcript.turns)

    @property
    def stop(self) -> tuple[str, ...]:
        """The texts that end the next reply, such as the end of a tool call. They are part of the reply."""
        return tuple(filter(None, self._transcript.info.get("stop", ())))

    def fail(self, error: BaseException | str) -> None:
        """End the episode as failed, because no reply could be made."""
        running = self._playing
        self._end(running.failed(failure_of(error) if isinstance(error, BaseException) else Failure(error, error)))

    def truncate(self) -> None:
        """End the episode as truncated after its last turn, because the trainer asks for no further reply."""
        assert self._transcript  # the env has answered
        self._end(self._playing.truncated())

    @contextmanager
    def _call(self) -> Generator[None]:
        """Refuse a second call while the env answers, which would mix up what was said with what was answered."""
        if not self._calling.acquire(blocking=False):
            raise RuntimeError(
                "this session is in another call: a session plays one episode at a time; make one per task or thread"
            )
        try:
            yield
        finally:
            self._calling.release()

    @property
    def _playing(self) -> RunningEpisode:
        if self._running is None:
            if self._result is not None:
                raise EpisodeOver("the episode of this session has ended; start another")
            raise ResetNeeded("start an episode first")
        return self._running

    @property
    def _transcript(self) -> Transcript:
        transcript = self._playing.transcript
        if transcript is None:
            raise ResetNeeded("the env of this session has not answered yet")
        return transcript

    def _begin(self, seed: int, options: Mapping[str, Any] | None, id: str | None, group: int) -> Reset:
        """The message with which an episode starts; one that is running is abandoned."""
        name, spec = self._envs.spec(id)
        start = Start(seed, name, options, group)
        self._result = None
        self._running = RunningEpisode(start, spec, self._max_turns)
        return self._envs.reset(start)

    def _reply(self, completion: Completion) -> str:
        """The message that carries a reply."""
        self._playing.said(completion)
        return completion.text

    def _hear(self, result: SlotResult) -> bool:
        """Take the env's answer; returns whether the episode continues."""
        running = self._playing
        episode = running.stepped(result.step, result.failure)
        if episode is None:
            return True
        self._end(episode)
        if result.failure and (unreachable := self._envs.reach.ended(running.start.id, result.failure)):
            raise unreachable
        return False

    def _end(self, episode: Episode) -> None:
        if episode.failure is None:
            self._envs.reach.ended(self._playing.start.id, None)
        self._running, self._result = None, Result(episode)


class TokenDialogue(Dialogue):
    """The same with ids.

    Args:
        envs: what is played.
        chat: the tokenizer and its chat template.
        max_context: most ids of a context, read and sampled; an episode that fills it is truncated.
        max_new_tokens: most ids of a reply.
        max_turns: turns after which an episode is truncated.
    """

    def __init__(
        self,
        envs: EnvChoice,
        chat: ChatEncoder,
        *,
        max_context: int | None = None,
        max_new_tokens: int | None = None,
        max_turns: int | None = None,
    ) -> None:
        super().__init__(envs, max_turns)
        self.chat = chat
        """Renders the conversation."""
        self._positions = sys.maxsize if max_context is None else check_int("max_context", max_context, 1)
        self._most = sys.maxsize if max_new_tokens is None else check_int("max_new_tokens", max_new_tokens, 1)
        self._stops = StopTexts(chat)
        self._conversations: dict[str, Conversation] = {}
        self._conversation = Conversation(chat, self._positions, self._most)
        """The conversation of the player who speaks next."""

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """The ids that end a reply. They are part of it."""
        return self.chat.stop_ids

    @property
    def max_tokens(self) -> int | None:
        """Most ids of the next reply; None for no limit."""
        if self._positions == self._most == sys.maxsize:
            return None
        return max(0, min(self._conversation.room, self._most))

    @property
    def context(self) -> list[int]:
        """All ids that the model has read and sampled so far, and that it reads before the next reply."""
        return list(self._conversation.context)

    @property
    def read_anew(self) -> int:
        """Number of ids at the end of the context that have not been read before: all of them in a new segment."""
        return len(self._conversation.prompt.ids)

    def _begin_ids(self, seed: int, options: Mapping[str, Any] | None, id: str | None, group: int) -> Reset:
        reset = self._begin(seed, options, id, group)
        self._conversations.clear()
        return reset

    def _say(
        self, ids: Sequence[SupportsIndex], logprobs: Sequence[float] | None, finish_reason: FinishReason | None
    ) -> str:
        stop = self.stop
        conversation = self._conversation
        said, scores = _numbers(ids, logprobs)
        if finish_reason not in (None, "stop", "length", "context"):
            raise ConfigError(f"finish_reason is 'stop', 'length' or 'context', not {finish_reason!r}")
        reason, limit = conversation.if_cut, min(conversation.room, self._most)
        length = self._ending(said[:limit], stop)
        if length:
            reason = "stop"
        elif len(said) < limit:
            reason = finish_reason or "stop"
        length = length or limit
        _check_logprobs(scores[:length])
        completion = conversation.completion(said[:length], scores[:length], reason)
        conversation.context += completion.ids
        return self._reply(completion)

    def _ending(self, ids: list[int], stop: tuple[str, ...]) -> int:
        """Number of ids of the reply: up to the first that ends it; 0 if none does."""
        ends = frozenset(self.chat.stop_ids)
        said: list[int] = []
        for id in ids:
            said.append(id)
            if not 0 <= id < _MOST_IDS:
                raise ConfigError(f"no token has the id {id}: leave out what an engine adds after the end of a reply")
            if id in ends or (stop and self._stops.reached(stop, said)):
                return len(said)
        return 0

    def _ids(self, result: SlotResult) -> list[int] | None:
        """Ids to read next; None at the end."""
        if not self._hear(result):
            return None
        player = self._playing.player
        if player not in self._conversations:
            self._conversations[player] = Conversation(self.chat, self._positions, self._most)
        self._conversation = self._conversations[player]
        try:
            room = self._conversation.ask(self._transcript)
        except BaseException as error:  # the env has moved on, so the reply cannot be said again
            self.fail(error)
            raise
        if not room:
            self._end(self._playing.truncated(out_of_context=True))
            return None
        return self.context


def _numbers(ids: Sequence[SupportsIndex], logprobs: Sequence[float] | None) -> tuple[list[int], list[float]]:
    """The ids of a reply and their log-probabilities, of any kind of array, as numbers of Python."""
    try:
        said = [index(id) for id in ids]
    except TypeError as error:
        raise ConfigError(
            f"a reply is one sequence of token ids, such as [17, 42], and not {shown(ids)} ({error}); "
            "texts and messages are for a MessageSession"
        ) from error
    try:
        scores = [0.0] * len(said) if logprobs is None else [float(each) for each in logprobs]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"log-probabilities are one number per id, and not {shown(logprobs)} ({error})") from error
    if len(scores) != len(said):
        raise ConfigError(f"a reply of {len(said)} ids has {len(scores)} log-probabilities")
    return said, scores


def shown(value: object) -> str:
    """The beginning of a value, for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _check_logprobs(scores: Sequence[float]) -> None:
    for place, score in enumerate(scores):
        if not math.isfinite(score) or score > _ROUNDED:
            raise ConfigError(
                f"id {place} of the reply has the log-probability {score}: give the natural logarithm of the "
                "probability with which it was drawn, or None for all of them, if the trainer computes them itself"
            )


def encoder(tokenizer: ChatTokenizer | ChatEncoder | Any, **settings: Any) -> ChatEncoder:
    """The encoder of a tokenizer."""
    given: dict[str, Any] = {name: value for name, value in settings.items() if value not in (None, (), [], {})}
    if isinstance(tokenizer, ChatEncoder):
        if given:
            raise ConfigError(f"the encoder has {', '.join(given)} already; give them to ChatEncoder")
        return tokenizer
    if not hasattr(tokenizer, "apply_chat_template"):
        raise ConfigError(
            "a session with ids needs a tokenizer, such as AutoTokenizer.from_pretrained(…) of transformers, or a "
            f"ChatEncoder, not {tokenizer!r}"
        )
    return ChatEncoder(cast("ChatTokenizer", tokenizer), **given)
