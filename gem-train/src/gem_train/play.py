"""The playing of a run's episodes: while the learner waits for them, or all the time, in a thread of its own.

`gem_train.groups` says which may start and which a step learns from. With `max_lag` 0 a step plays its own groups, no
others. Otherwise the next groups start as slots become free, and episodes are played on while the weights change: as
long as the learner waits for a step, or, if play is `asynchronous`, all the time.
"""

import random
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from typing import Any, Literal

from gem.episode import Episode, Trace
from gem.errors import ConfigError, TrainingStopped
from gem.rewards import RewardPipeline, scored
from gem.rollout import Start, rollout
from gem.rollout.policy import Policy
from gem.rollout.starts import ByWeight, StartSampler
from gem.vector import VectorEnv
from gem.work.threads import Outcome, Threads
from gem_train.batch import traces_of
from gem_train.distributed.world import World
from gem_train.groups import Counts, Groups, Played

GRACE = 5.0
"""Seconds that the end of a run waits for its thread, which may be in a step of an env that hangs."""
_NOTHING = "no episode of this run is left to play"


class _Playing:
    """A rollout on the groups of a run, which one thread advances."""

    episodes: Generator[Episode] | None = None
    leaves = False
    """True once it is to end: it starts nothing, and what it plays is abandoned."""
    waits = False
    """True while its thread waits for something to start."""
    threads: Threads | None = None
    result: "Future[Outcome[None]] | None" = None
    """Result of its thread, if it has one of its own."""


class Play:
    """The episodes of the steps of a run.

    Args:
        policy: plays them. If play is asynchronous, it may get new weights in another thread.
        envs: what it plays on.
        starts: chooses where groups start; by default several ids get their shares of the groups.
        seed: of the run.
        steps: of the run; no episode starts that they will not use.
        episodes: in a step.
        group_size: how many of them start alike; a divisor of `episodes`.
        max_lag: how many updates older than the weights the oldest reply of an episode may be when it is learned from.
        late: what becomes of a group that is not complete and would be too old for the next step: the step waits for
            it, or it is dropped and starts again.
        asynchronous: whether a thread plays on between the steps, too.
        dynamic_sampling: how many groups may be played in a place of a step, after the first, until the episodes of one
            are not all rewarded alike; the last is learned from as it is. The batch is full with any number. Source of
            dynamic sampling: DAPO, arXiv 2503.14476, section 3.2 (which has no such bound).
        place: adds to a start what it needs besides the seed, such as the row of a data set.
        groups: which of the groups of a step are played here; by default all of them.
        reward: what scores the episodes before their groups are complete; their slots play on meanwhile.
        traces: the traces of an episode that are trained; by default all of them.
    """

    def __init__(
        self,
        policy: Policy,
        envs: VectorEnv,
        starts: StartSampler | None = None,
        *,
        seed: int,
        steps: int,
        episodes: int,
        group_size: int = 1,
        max_lag: int = 0,
        late: Literal["wait", "drop"] = "wait",
        asynchronous: bool = False,
        dynamic_sampling: int = 0,
        place: Callable[[Start], Start] = lambda start: start,
        groups: Sequence[int] | None = None,
        reward: RewardPipeline | None = None,
        traces: Callable[[Episode], Iterable[Trace]] = traces_of,
    ) -> None:
        self._policy = policy
        self._reward = reward
        self._envs = envs
        self._max_lag = max_lag
        self._asynchronous = asynchronous
        self._groups = Groups(
            starts or ByWeight(envs.shares),
            seed=seed,
            steps=steps,
            episodes=episodes,
            group_size=group_size,
            max_lag=max_lag,
            drops=late == "drop",
            dynamic_sampling=dynamic_sampling,
            place=place,
            groups=groups,
            traces=traces,
        )
        self._traces = traces
        self._looks = asynchronous or late == "drop"
        """Whether episodes may be given up while they are played."""
        self._changed = threading.Condition()
        """Its lock is held by whoever uses the groups or the sampler of starts."""
        self._playing: _Playing | None = None

    def step(self, version: int) -> Played:
        """Play until the next update can be made.

        Args:
            version: of the weights that are updated: the number of updates before.

        Raises:
            TrainingStopped: an episode is older than `max_lag` allows, or it is not known how old it is.
        """
        with self._changed:
            self._groups.begin(version)
            self._changed.notify_all()  # more may start now
        self._play_until(self._begin(), self._groups.are_ready)
        with self._changed:
            played = self._groups.take()
        if not (self._asynchronous or self._groups.any_open):
            self.close()
        check_lag(played.episodes, version, self._max_lag, self._traces)
        return played

    def drain(self) -> None:
        """Finish the running groups and start no others, so that the policy is free for something else."""
        self._groups.draining = True
        try:
            if self._playing is not None:
                self._play_until(self._playing, self._groups.are_complete)
            self._leave(threading.TIMEOUT_MAX)
        finally:
            self._groups.draining = False

    def learned(self, episodes: Iterable[Episode]) -> None:
        """Tell the sampler of starts of the episodes that were learned from."""
        with self._changed:
            self._groups.starts.ended(episodes)

    def metrics(self) -> dict[str, float]:
        """Measurements of the sampler of starts."""
        with self._changed:
            return self._groups.starts.metrics()

    def state(self, version: int) -> dict[str, Any]:
        """The state from which a run resumes with `version` updates, as JSON.

        It has the groups that are still to be learned from, the state of the sampler of starts, and the counts. Until
        the update is made, they are those from before the step.
        """
        with self._changed:
            return self._groups.state(version)

    def resume(self, states: Sequence[Mapping[str, Any]], world: World) -> None:
        """Restore what is this process's of the `states` of all processes.

        Raises:
            ConfigError: there are more or fewer processes now, and the states cannot be divided among them.
        """
        # What the sampler of starts keeps is the same in every process.
        if len(states) == world.size:
            self.restore(states[world.rank])
        elif any(state["upcoming"] for state in states):
            raise ConfigError(
                f"the run has been made by {len(states)} processes, with max_lag: resume it with as many processes"
            )
        else:
            counts = Counts() if world.rank else Counts.sum(Counts(**state["counts"]) for state in states)
            self.restore({**states[0], "counts": asdict(counts)})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`, before the first step."""
        with self._changed:
            self._groups.restore(state)

    def close(self) -> None:
        """Abandon the episodes that are running; their groups start again in the next step.

        A thread that is in a step of an env is waited for only shortly; it ends after it.
        """
        self._leave(time.monotonic() + GRACE)

    def _leave(self, until: float) -> None:
        """End the rollout; its thread is waited for until then, by `time.monotonic`."""
        playing, self._playing = self._playing, None
        if playing is not None and playing.threads is not None:
            with self._changed:
                playing.leaves = True
                self._changed.notify_all()
            playing.threads.close(until)
        elif playing is not None and playing.episodes is not None:
            playing.episodes.close()
        with self._changed:
            self._groups.break_off()

    def _play_until(self, playing: _Playing, done: Callable[[], bool]) -> None:
        """Play, or wait for the thread that does, until `done`."""
        result = playing.result
        try:
            if result is None:
                while not done():
                    if not self._advance(playing) and not self._groups.can_start():
                        raise RuntimeError(_NOTHING)
                return
            with self._changed:
                self._changed.wait_for(
                    lambda: done() or result.done() or (playing.waits and not self._groups.can_start())
                )
                if done():
                    return
            if result.done():
                result.result().get()  # raises what the thread has raised
            raise RuntimeError(_NOTHING)
        except BaseException:
            self.close()
            raise

    def _begin(self) -> _Playing:
        """The rollout, if need be a new one."""
        if self._playing is None:
            playing = self._playing = _Playing()
            if self._asynchronous:
                playing.threads = Threads("gem-play", 1)
                playing.result = playing.threads.submit(partial(self._play_on, playing))
                playing.result.add_done_callback(lambda _: self._wake())
        return self._playing

    def _play_on(self, playing: _Playing) -> None:
        """Play as long as anything may start, and wait until more may; in a thread of its own."""
        try:
            while not playing.leaves:
                if self._advance(playing):
                    continue
                with self._changed:
                    playing.waits = True
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: playing.leaves or self._groups.can_start())
                    playing.waits = False
        finally:
            if playing.episodes is not None:
                playing.episodes.close()

    def _advance(self, playing: _Playing) -> bool:
        """Play until an episode ends; False if none is running."""
        if playing.episodes is None:
            given_up = partial(self._is_given_up, playing) if self._looks else None
            played = rollout(self._policy, self._envs, self._starts(playing), given_up=given_up)
            playing.episodes = scored(played, self._reward)
        episode = next(playing.episodes, None)
        with self._changed:
            if episode is None:
                playing.episodes = None
            elif not playing.leaves:
                self._groups.ended(episode)
        self._wake()
        return episode is not None

    def _starts(self, playing: _Playing) -> Iterator[Start | None]:
        """The starts of the episodes; None while none may start."""
        while True:
            with self._changed:
                start = None if playing.leaves else self._groups.next_start()
            yield start

    def _is_given_up(self, playing: _Playing, start: Start) -> bool:
        with self._changed:
            return playing.leaves or self._groups.is_given_up(start)

    def _wake(self) -> None:
        """Let those who wait look again."""
        with self._changed:
            self._changed.notify_all()


def check_lag(
    episodes: Iterable[Episode],
    version: int,
    max_lag: int,
    traces: Callable[[Episode], Iterable[Trace]] = traces_of,
) -> None:
    """Require of every reply in these `traces` that it was sampled under known weights, at most so many updates before
    `version`.

    Raises:
        TrainingStopped: one was not.
    """
    for episode in episodes:
        for turn in (turn for trace in traces(episode) for turn in trace.turns):
            versions = turn.completion.weight_versions
            if versions and version - max_lag <= min(versions) and max(versions) <= version:
                continue
            where = f"stopped at step {version + 1}: a reply of the episode {episode.id} with the seed {episode.seed}"
            if not versions:
                raise TrainingStopped(
                    f"{where} does not have the version of the weights that sampled it, so it is not known whether it "
                    "is older than rollout.max_lag allows. The engine has to report it: try another rollout.engine"
                )
            raise TrainingStopped(
                f"{where} was sampled under the weights of versions {min(versions)} to {max(versions)}, and is to be "
                f"learned from at version {version}: rollout.max_lag allows {max_lag} updates between them. That is a "
                "fault of the engine or of GEM; nothing was learned from it"
            )


def played_in_order(
    policy: Policy,
    envs: VectorEnv,
    starts: Sequence[Start],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Episode]:
    """The episodes from different seeds, in the order of their starts, however they finish.

    Args:
        policy: plays them.
        envs: what it plays on.
        starts: of the episodes.
        progress: called with the number of episodes played, and of all.
    """
    order = {start.seed: index for index, start in enumerate(starts)}
    progress(0, len(starts))
    played: list[Episode] = []
    for episode in rollout(policy, envs, starts):
        played.append(episode)
        progress(len(played), len(starts))
    return sorted(played, key=lambda episode: order[episode.seed])


def drawn(episodes: int, count: int, seed: int) -> list[int]:
    """The indices of `count` of so many episodes, each with equal chances, in order."""
    return sorted(random.Random(seed).sample(range(episodes), min(count, episodes)))
