"""Shared parts of the modules of frameworks: starts of episodes, scores, and a player for event loops.

A row of a dataset is the start of an episode, in most frameworks as JSON in the column of the prompt. `Player` plays it
in the event loop of a framework whose engine answers one request at a time: OpenRLHF, slime, RL2 and verl. It keeps the
sessions that it has opened, so that episodes share envs.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import gem
from gem import seeding
from gem.chat.encoder import History
from gem.checks import check_int
from gem.episode import FinishReason
from gem.episode.segments import Segment
from gem.errors import ConfigError, Fault
from gem.packs.make import Wrappers
from gem_interop.session import AsyncSession, Result, Sessions

_log = logging.getLogger(__name__)

Score = Literal["return", "success"]
Reply = tuple[Sequence[int], Sequence[float] | None, FinishReason | None]
"""Sampled ids, their log-probabilities, and why they end."""
Generate = Callable[[AsyncSession, list[int]], Awaitable[Reply | None]]
"""`(session, ids to read)` → a reply; None if it has ended the episode, by `truncate` or `fail` of the session, or if
the engine gave it up. The session says what ends the reply."""


class EpisodeFailed(Fault):
    """The env of an episode failed, so that the episode says nothing about the model."""


def start_number(number: int, ids: Sequence[str], seed: int, *, evaluation: bool = False) -> tuple[str, int]:
    """The id and the seed of an episode: the same in every framework, for the same seed of the user's.

    Args:
        number: of the start, from 0.
        ids: among which starts are divided, in turn.
        seed: another one gives other starts.
        evaluation: the starts of an evaluation, which are others than those of training.
    """
    return ids[number % len(ids)], seeding.derive(seed, "evaluation" if evaluation else "rows", number)


def starts(env: str | Sequence[str], episodes: int, seed: int, *, evaluation: bool = False) -> list[tuple[str, int]]:
    """The first starts of `start_number`, of which a framework makes the rows of a data set.

    Args:
        env: an id, or several, among which the rows are divided.
        episodes: how many rows; a framework may play several episodes from each.
        seed: another one gives other starts.
        evaluation: the starts of an evaluation, which are others than those of training.

    Raises:
        ConfigError: there is no id.
        UnknownId, PackError, SpecError: as for `gem.make`: a mistake is found before a framework starts its engines.
    """
    ids = [env] if isinstance(env, str) else list(env)
    if not ids:
        raise ConfigError("rows need an id, or a list of ids")
    for id in ids:
        gem.get_spec(id)
    return [start_number(number, ids, seed, evaluation=evaluation) for number in range(episodes)]


def prompt_of(id: str, seed: int) -> str:
    """The prompt of a row, which names a start."""
    return json.dumps({"env": id, "seed": seed})


def start_of(prompt: object) -> tuple[str, int]:
    """The id and the seed that a row names.

    Raises:
        ConfigError: it is not one of `prompt_of`, such as one that a chat template was applied to.
    """
    try:
        start: Any = json.loads(prompt) if isinstance(prompt, str) else None
        return str(start["env"]), int(start["seed"])
    except (ValueError, TypeError, KeyError):
        raise ConfigError(
            f"a prompt is the start of an episode, made by the module's rows, without a chat template; not "
            f"{prompt!r:.80}"
        ) from None


def check_score(score: object) -> None:
    """Refuse what is not a `Score`."""
    if score not in ("return", "success"):
        raise ConfigError(f"score is 'return' or 'success', not {score!r}")


def reward_of(result: Result, score: Score) -> float | None:
    """Reward of an episode; None if there is nothing to learn from: it failed, or did not fit the context."""
    if not result.segments:
        return None
    return float(result.success) if score == "success" else result.total_reward


def only_segment(result: Result, end: int) -> Segment:
    """The segment of an episode whose history was kept, for frameworks that want exactly one sequence of each episode.

    Without one, because there is nothing to learn from, a sequence of which no id is trained: `end`, read and said.
    """
    [segment] = result.segments or (Segment((end,), (end,), (0,), (0.0,), (0.0,), (-1,)),)
    return segment


class Player:
    """Plays episodes, any number at once.

    Args:
        max_turns: turns after which an episode is truncated.
        score: the reward of an episode: its `"return"`, or 1 for `"success"` and 0 otherwise.
        retries: how often an episode that failed is played again, from the same start.
        max_envs: envs of each id, and so episodes at once; more of them wait.
        step_timeout: seconds that one call of an env may take, after which its episode fails.
        history: what to do if the template renders earlier messages differently; by default, an episode is one segment.
        template_kwargs: passed to the chat template.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(
        self,
        *,
        max_turns: int | None = None,
        score: Score = "return",
        retries: int = 2,
        max_envs: int = 256,
        step_timeout: float | None = None,
        history: History | None = "keep",
        template_kwargs: dict[str, Any] | None = None,
        wrappers: Wrappers = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        check_score(score)
        self._score: Score = score
        self._retries = check_int("retries", retries, 0)
        self._settings: dict[str, Any] = {
            "max_turns": max_turns,
            "most": check_int("max_envs", max_envs, 1),
            "step_timeout": step_timeout,
            "template_kwargs": template_kwargs,
            "wrappers": wrappers,
            "env_kwargs": env_kwargs,
            "history": history,
        }
        self._opened: dict[tuple[Any, ...], asyncio.Task[Sessions]] = {}

    async def play(self, prompt: object, generate: Generate, tokenizer: Any, **limits: int | None) -> Result | None:
        """Play the episode that a row names; if it fails, again, and then the failed one is returned.

        Args:
            prompt: one of `prompt_of`.
            generate: samples a reply.
            tokenizer: of the model.
            limits: `max_context` and `max_new_tokens`, as for `Sessions`.

        Returns:
            The episode; None if `generate` gave up.

        Raises:
            ConfigError: the prompt is not a start, or the env refuses its settings.
            UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
        """
        env, seed = start_of(prompt)
        async with (await self._sessions(env, tokenizer, limits)).session() as session:
            for tries_left in range(self._retries, -1, -1):
                ids = await session.start(seed)
                while ids is not None:
                    reply = await generate(session, ids)
                    if reply is None and not session.ended:
                        return None
                    ids = None if reply is None else await session.said(*reply)
                failure = session.result.failure
                if failure is None:
                    break
                _log.warning(
                    "an episode of %s from seed %s failed, %s tries left: %s", env, seed, tries_left, failure.error
                )
            return session.result

    def reward(self, result: Result) -> float | None:
        """Reward of an episode by `reward_of`, with the score of this player."""
        return reward_of(result, self._score)

    async def close(self) -> None:
        """Close the envs. Closing twice is fine."""
        opened, self._opened = self._opened, {}
        for sessions in await asyncio.gather(*opened.values(), return_exceptions=True):
            if isinstance(sessions, Sessions):
                await sessions.close()

    async def _sessions(self, env: str, tokenizer: Any, limits: Mapping[str, int | None]) -> Sessions:
        """Opened once for all episodes: frameworks pass another copy of the same tokenizer with each of them."""
        key = (env, *sorted(limits.items()))
        # An event loop that was closed meanwhile has cancelled it.
        if key not in self._opened or self._opened[key].cancelled():
            settings: dict[str, Any] = {**self._settings, **limits}
            self._opened[key] = asyncio.ensure_future(Sessions(env, tokenizer, **settings).__aenter__())
        return await asyncio.shield(self._opened[key])
