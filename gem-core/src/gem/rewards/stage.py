"""Scoring as a stage after the rollout: while episodes are scored, their slots play the next ones."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future
from queue import SimpleQueue

from gem.episode import Episode
from gem.rewards.pipeline import RewardPipeline
from gem.vector.reach import Reach
from gem.work.threads import drain

AHEAD = 4
"""Episodes in memory that are not scored yet, for each call that may run at once; further ones wait in their slots."""


def scored(episodes: Iterable[Episode], pipeline: RewardPipeline | None) -> Generator[Episode]:
    """The episodes, such as those of a `rollout`, with their scores; each as soon as it is scored.

    All are yielded: one that failed as it is, and one of which a reward failed as a failure. Closing the generator
    closes that of the episodes, and cancels what is under way. Without a pipeline they are yielded as they are. An
    exception of `episodes` is raised when those before it are scored.

    Raises:
        GemError: a setting of a reward is wrong.
        Unreachable: rewards of several episodes of an id in a row failed because what they depend on cannot be reached.
    """
    reach = Reach()
    ready: SimpleQueue[Future[Episode]] = SimpleQueue()
    pending: set[Future[Episode]] = set()

    def finished(timeout: float | None) -> Generator[Episode]:
        for future in drain(ready, timeout):
            pending.discard(future)
            episode = future.result()
            yield episode
            unreachable = reach.ended(episode.id, episode.failure)
            if unreachable is not None:
                raise unreachable

    error: Exception | None = None
    upcoming = iter(episodes)
    try:
        while True:
            try:
                episode = next(upcoming, None)
            except Exception as raised:  # such as a budget that is spent: what has been played is kept
                error = raised
                break
            if episode is None:
                break
            if pipeline is None or episode.failure is not None:
                yield episode
            else:
                future = pipeline.start(episode)
                pending.add(future)
                future.add_done_callback(ready.put)
            yield from finished(timeout=0)
            while pipeline is not None and len(pending) >= AHEAD * pipeline.at_once:
                yield from finished(timeout=None)
        while pending:
            yield from finished(timeout=None)
        if error is not None:
            raise error
    finally:
        for future in pending:
            future.cancel()
        if isinstance(episodes, Generator):
            episodes.close()
