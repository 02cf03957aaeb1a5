"""`RewardPipeline`: several rewards of an episode, with weights."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from gem.checks import check_int, finite
from gem.episode import Episode, Trace
from gem.errors import (
    BadArguments,
    ConfigError,
    GemError,
    RewardFailed,
    ToolError,
    Unreachable,
    did_you_mean,
    failure_of,
    one_line,
)
from gem.rewards.case import Case
from gem.rewards.parts import ENV, has_ended, reward_of, unscored, with_scores, with_success
from gem.rewards.score import Reward, Score, Scores, reward
from gem.tool.runtime import EpisodeResources, ToolRuntime

AT_ONCE = 256
"""Default limit on calls of rewards at once."""

T = TypeVar("T")
_Call = Callable[[Reward, Case], Coroutine[Any, Any, Scores]]


class RewardPipeline:
    """Scores episodes with several rewards at once, and adds the scores to the rewards of their turns, as parts.

    A reward that fails makes the episode a failure; so it is reported, and neither trained on nor counted as a 0.

    Args:
        rewards: rewards, or functions that can be one (see `gem.reward`).
        weights: of a reward, of one of its parts (`judge/clear`), or of the reward that the env gives (`env`): 1 for
            those that are not named.
        success: a part, and the least score (without its weight) with which the episode is a success: of each
            player's last turn. By default the env says what a success is.
        players: the players whose turns are scored; by default all.
        at_once: most calls at once.

    Raises:
        ConfigError: two rewards have the same name, a name does not exist, or a number is out of range.
    """

    def __init__(
        self,
        rewards: Sequence[Reward | Callable[..., Any]],
        *,
        weights: Mapping[str, float] | None = None,
        success: tuple[str, float] | None = None,
        players: Collection[str] | None = None,
        at_once: int = AT_ONCE,
    ) -> None:
        self.rewards = tuple(each if isinstance(each, Reward) else reward(each) for each in rewards)
        self.weights = {name: finite(f"the weight of {name}", weight) for name, weight in (weights or {}).items()}
        self._success, self._players = success, players
        names = [each.name for each in self.rewards]
        if twice := {name for name in names if names.count(name) > 1 or name == ENV}:
            raise ConfigError(f"two rewards are called {min(twice)!r} ({ENV!r} is that of the env): give one a name=")
        for part in (*self.weights, *([success[0]] if success else [])):
            if reward_of(part) not in (*names, ENV):
                raise ConfigError(
                    f"no reward of the pipeline is called {part!r}.{did_you_mean(part, [*names, ENV])} There are: "
                    f"{', '.join([*names, ENV])}; a part of one is REWARD/{part}"
                )
        self.at_once = check_int("at_once", at_once, 1)
        self._lock = threading.Lock()
        self._runtime: ToolRuntime | None = None

    def start(self, episode: Episode) -> "Future[Episode]":
        """Begin to score an episode, and return at once; errors of the future are those of `score`."""
        with self._lock:
            if self._runtime is None:
                self._runtime = ToolRuntime(max_concurrency=self.at_once)
                # A pipeline that is garbage-collected must leave no threads and descriptors.
                weakref.finalize(self, self._runtime.close).atexit = False
            return self._runtime.submit(self._score(episode, self._runtime))

    async def score(self, episode: Episode) -> Episode:
        """The episode with the scores in its turns, from any event loop. One that did not end is returned as it is.

        Raises:
            GemError: a setting of a reward is wrong; any other error of one makes the episode a failure.
        """
        return await asyncio.wrap_future(self.start(episode))

    def close(self) -> None:
        """Cancel what is under way, and end the threads; the next episode starts others."""
        with self._lock:
            runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()

    async def _score(self, episode: Episode, runtime: ToolRuntime) -> Episode:
        if not has_ended(episode):
            return episode
        played = unscored(episode)
        resources = _kept(played)
        if resources is None:
            needed = [each.tool.resource for each in self.rewards if each.tool.resource is not None]
            resources = EpisodeResources(runtime, runtime.session(needed))
        call = partial(_call, resources)
        try:
            traces = await _all(self._of_trace(played, trace, call) for trace in played.traces)
        except (RewardFailed, Unreachable) as error:
            return replace(played, failure=failure_of(error))
        finally:
            await resources.aclose()
        scored = replace(played, traces=tuple(traces))
        return scored if self._success is None else with_success(scored, *self._success)

    async def _of_trace(self, episode: Episode, trace: Trace, call: _Call) -> Trace:
        if not trace.turns or trace.player not in (self._players or (trace.player,)):
            return trace
        last = len(trace.turns) - 1
        asked = [(index, each) for each in self.rewards for index in range(0 if each.per_turn else last, last + 1)]
        found = await _all(call(each, Case(episode, trace, index)) for index, each in asked)
        scores: list[dict[str, Score]] = [{} for _ in trace.turns]
        for (index, _), given in zip(asked, found, strict=True):
            scores[index].update(given)
        turns = (with_scores(turn, each, self.weights) for turn, each in zip(trace.turns, scores, strict=True))
        return replace(trace, turns=tuple(turns))


def _kept(episode: Episode) -> EpisodeResources | None:
    """What the tools of the episode had open, if its env keeps it (`ToolEnv(keep_resources=True)`)."""
    infos = (trace.turns[-1].info for trace in episode.traces if trace.turns)
    found = (info.get("resources") for info in infos)
    return next((each for each in found if isinstance(each, EpisodeResources)), None)


async def _call(resources: EpisodeResources, each: Reward, case: Case) -> Scores:
    """The scores of a reward.

    Raises:
        RewardFailed: it failed.
        Unreachable: for a reason for which others will fail, too.
        GemError: a setting is wrong.
    """
    try:
        return each.read(await resources.acall(each.tool, each.arguments(case)))
    except (ToolError, BadArguments) as error:
        if each.refused is None:
            raise RewardFailed(f"{each.name}: {one_line(error)}") from error
        return each.refused(error)
    except (GemError, Unreachable, asyncio.CancelledError):
        raise
    except BaseException as error:  # such as SystemExit, which would end the event loop
        raise RewardFailed(f"{each.name}: {one_line(error)}") from error


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results; with the first error the others are cancelled."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
