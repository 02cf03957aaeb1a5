"""The rollout: one loop that carries observations to a policy and actions to environments.

Both sides have `send` and `recv`, and the loop carries whatever is ready to the other side; neither waits for its
slowest member.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from gem.core import Step
from gem.policy import Policy
from gem.seeding import check_seed
from gem.transcript import Completion, Episode, Failure, Transcript
from gem.vector import Arrival, Reset, VectorEnv

PAUSE = 0.001
"""Seconds to wait for the envs where neither they nor the policy had anything."""


def rollout(policy: Policy, envs: VectorEnv, seeds: Iterable[int], group_size: int = 1) -> Iterator[Episode]:
    """Play `group_size` episodes from each seed, and yield them as they finish.

    Equal seeds give equal starts, so the episodes of a group need no copied env. Every episode that was started is
    played to its end, long ones included; one whose env failed is yielded with its `failure`. Abandoning the
    iterator early is fine. The envs may have any autoreset: the rollout starts every episode itself.

    Args:
        policy: what plays; the envs must give its `hints`.
        envs: where it plays. With envs of several ids, slots take the seeds as they become free.
        seeds: taken one at a time, as slots become free; may be endless.
        group_size: episodes from each seed.
    """
    starts = ((seed, group) for seed in map(check_seed, seeds) for group in range(group_size))
    games = _Games(envs)
    # Whatever an abandoned rollout left under way belongs to nobody.
    envs.recv(min_results=envs.num_envs)
    try:
        games.start(range(envs.num_envs), starts)
        pause = 0.0
        while games.in_envs or games.in_policy:
            # Only where nothing is under way on the other side may one side be waited for. Where neither side had
            # anything, a pause keeps the loop from spinning.
            arrivals = envs.recv(timeout=pause if games.in_policy else None) if games.in_envs else []
            free: list[int] = []
            waiting: dict[int, Transcript] = {}
            for arrival in arrivals:
                episode = games.arrived(arrival)
                if episode is None:
                    waiting[arrival.slot] = games.transcripts[arrival.slot]
                else:
                    policy.forget(arrival.slot)
                    free.append(arrival.slot)
                    yield episode
            if waiting:
                policy.send(waiting)
            games.start(free, starts)
            completions = policy.recv(timeout=0 if games.in_envs else None) if games.in_policy else {}
            games.answered(completions)
            pause = 0.0 if arrivals or completions else PAUSE
    finally:
        for slot in games.in_policy:
            policy.forget(slot)


class _Games:
    """The episodes under way, by slot: each is either with its env or with the policy."""

    def __init__(self, envs: VectorEnv) -> None:
        self._envs = envs
        self._starts: dict[int, tuple[int, int]] = {}
        self._clocks: dict[int, float] = {}
        self._completions: dict[int, Completion] = {}
        self.transcripts: dict[int, Transcript] = {}
        self.in_envs: set[int] = set()
        self.in_policy: set[int] = set()

    def start(self, slots: Iterable[int], starts: Iterator[tuple[int, int]]) -> None:
        """Begin the next episodes in `slots`, as far as `starts` goes."""
        begun = dict(zip(slots, starts, strict=False))
        self._starts.update(begun)
        self._clocks.update(dict.fromkeys(begun, time.perf_counter()))
        self._envs.send({slot: Reset(seed) for slot, (seed, _) in begun.items()}, autoreset="off")
        self.in_envs.update(begun)

    def answered(self, completions: dict[int, Completion]) -> None:
        """Carry the policy's completions to the envs."""
        self._envs.send({slot: completion.text for slot, completion in completions.items()}, autoreset="off")
        self._completions.update(completions)
        self.in_policy -= completions.keys()
        self.in_envs |= completions.keys()

    def arrived(self, arrival: Arrival) -> Episode | None:
        """Enter what an env gave; the episode, if that was its end."""
        slot = arrival.slot
        self.in_envs.discard(slot)
        if arrival.step is None:
            return self._episode(slot, None, arrival.failure)
        step = arrival.step
        transcript = self.transcripts.get(slot)
        if transcript is None:
            self.transcripts[slot] = Transcript(step.observation, step.info)
        else:
            transcript.add(self._completions.pop(slot), step.reward, step.observation, step.info)
        if step.done:
            return self._episode(slot, step, None)
        self.in_policy.add(slot)
        return None

    def _episode(self, slot: int, step: Step | None, failure: Failure | None) -> Episode:
        seed, group = self._starts.pop(slot)
        seconds = time.perf_counter() - self._clocks.pop(slot)
        transcript = self.transcripts.pop(slot, Transcript(""))
        return Episode(
            id=self._envs.id_of(slot),
            seed=seed,
            group=group,
            turns=tuple(transcript.turns),
            observation=transcript.observation,
            terminated=step is not None and step.terminated,
            truncated=step is not None and step.truncated,
            success=step is not None and bool(step.info["success"]),
            failure=failure,
            failed_on=self._completions.pop(slot, None),
            spec=self._envs.spec_of(slot),
            started=datetime.now(UTC) - timedelta(seconds=seconds),
            seconds=seconds,
        )
