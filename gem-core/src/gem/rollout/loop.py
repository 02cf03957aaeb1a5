"""The rollout: one loop that passes observations to a policy and actions to environments.

Both sides have `send` and `recv`. The loop passes on whatever is ready, so neither side waits for its slowest slot.
"""

import itertools
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace

from gem import seeding
from gem.checks import check_int
from gem.errors import ConfigError, PolicyError, Unreachable
from gem.failure import Failure
from gem.rollout.function_policy import FunctionPolicy, PolicyFunction
from gem.rollout.policy import Policy
from gem.rollout.running import RunningEpisode
from gem.rollout.transcript import Completion, Episode, Start, Transcript
from gem.vector import Reset, SlotResult, VectorEnv
from gem.vector.mixture import options_for

PAUSE = 0.001
"""Seconds to wait for the envs when neither side had a result."""


def rollout(
    policy: Policy | PolicyFunction,
    envs: VectorEnv,
    starts: Iterable[int | Start | None],
    group_size: int = 1,
    *,
    max_turns: int | None = None,
) -> Generator[Episode]:
    """Play `group_size` episodes from each start, and yield them as they finish.

    Every episode that starts is played to its end; one whose env or policy failed is yielded with its `failure`, and
    one whose conversation has outgrown the model's context is truncated. The iterator may be abandoned early. The envs
    may have any autoreset: the rollout resets them itself.

    Args:
        policy: a policy or a function (see `FunctionPolicy`); the envs must be made with its `info_methods`.
        envs: the vector. Several ids get their shares of the episodes: see `assign`.
        starts: seeds, or `Start`s, which may choose the id and have options for the reset. They are taken one at a
            time, as slots become free; may be endless. None means "not now": slots stay free until the next results,
            and the rollout ends if there are none to wait for.
        group_size: episodes from each start.
        max_turns: turns after which an episode is truncated; by default `MOST_TURNS`, or the `max_turns` of the spec if
            that is more.

    Raises:
        ConfigError: an argument is invalid.
        PolicyError: the policy returns something other than completions.
        SpecError: the envs do not have that id.
        Unreachable: several episodes of an id in a row failed because what it depends on cannot be reached.
    """
    if not isinstance(envs, VectorEnv):  # pyright: ignore[reportUnnecessaryIsInstance]: people try an env
        raise ConfigError(f"a rollout needs a vector, such as gem.make_vec(id, 8), not {envs!r}")
    if not isinstance(starts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"starts must be an iterable of seeds or Starts, such as range(100), not {starts!r}")
    if not isinstance(policy, Policy):
        with closing(FunctionPolicy(policy)) as asked:
            yield from rollout(asked, envs, starts, group_size, max_turns=max_turns)
        return
    upcoming = _Upcoming(starts, check_int("group_size", group_size, 1), envs.shares)
    active = _ActiveEpisodes(envs, None if max_turns is None else check_int("max_turns", max_turns, 1))
    # Drop the results of an abandoned rollout.
    envs.recv(min_results=envs.num_envs)
    try:
        pause = 0.0
        while active.start(upcoming):
            # Wait for one side only if nothing is pending on the other. If neither had a result, pause.
            results = envs.recv(timeout=pause if active.in_policy else None) if active.in_envs else []
            ended: dict[int, Episode] = {}
            waiting: dict[int, Transcript] = {}
            for result in results:
                episode = active.stepped(result)
                if episode is None:
                    waiting[result.slot] = active.transcript(result.slot)
                else:
                    ended[result.slot] = episode
            if active.unreachable is not None:
                yield from ended.values()
                raise active.unreachable
            if waiting:
                policy.send(waiting)
            # Both sides are at work while the caller is: it may take its time with an episode.
            yield from active.freed(ended, policy, upcoming)
            answers: Mapping[int, Completion | Failure] = {}
            asked = time.perf_counter()
            if active.in_policy:
                answers = policy.recv(timeout=0 if active.in_envs else None)
            # A policy that works in `recv` must not be kept from it.
            pause = 0.0 if results or answers or time.perf_counter() - asked > PAUSE else PAUSE
            yield from active.freed(active.answered(answers), policy, upcoming)
    finally:
        for slot in active.conversations:
            policy.forget(slot)


def assign(starts: Iterable[int | Start], shares: Mapping[str, float]) -> Iterator[Start]:
    """Give each start without an id one, by weight; at any time within one episode of the exact share.

    Depends on the weights, the first seed (so that short runs differ) and the position in `starts`, not on the lengths
    of episodes.
    """
    return _Upcoming(starts, 1, shares)


def _by_weight(shares: Mapping[str, float]) -> Iterator[str]:
    total = sum(shares.values())
    credit = dict.fromkeys(shares, 0.0)
    while True:
        for id, share in shares.items():
            credit[id] += share / total
        chosen = max(credit, key=credit.__getitem__)
        credit[chosen] -= 1
        yield chosen


class _Upcoming(Iterator[Start]):
    """Each start, so many times, with an id by weight; it may stop at a None, and have more later."""

    def __init__(self, starts: Iterable[int | Start | None], group_size: int, shares: Mapping[str, float]) -> None:
        self._given = iter(starts)
        self._group_size = group_size
        self._shares = shares
        self._ids: Iterator[str] | None = None
        self._members: deque[Start] = deque()

    def __next__(self) -> Start:
        if not self._members:
            given = next(self._given)
            if given is None:
                raise StopIteration
            start = self._with_id(given)
            self._members.extend(replace(start, group=start.group + member) for member in range(self._group_size))
        return self._members.popleft()

    def _with_id(self, given: int | Start) -> Start:
        if isinstance(given, tuple):  # the form before `Start`
            raise ConfigError(f"a start is a seed or a gem.rollout.Start(seed, id), not {given!r}")
        start = given if isinstance(given, Start) else Start(given)
        if start.id is not None or not self._shares:
            return start
        if self._ids is None:
            skipped = seeding.derive(start.seed, "mixture") % 1000
            self._ids = itertools.islice(_by_weight(self._shares), skipped, None)
        return replace(start, id=next(self._ids))


class _ActiveEpisodes:
    """The running episodes by slot; each waits either for its env or for the policy."""

    def __init__(self, envs: VectorEnv, max_turns: int | None) -> None:
        self._envs = envs
        self._max_turns = max_turns
        self._free = list(range(envs.num_envs))
        self._running: dict[int, RunningEpisode] = {}
        self.in_envs: set[int] = set()
        self.in_policy: set[int] = set()
        self.unreachable: Unreachable | None = None
        """Why no more episodes shall be played."""

    @property
    def conversations(self) -> list[int]:
        """The slots whose episodes the policy may know."""
        return [slot for slot, running in self._running.items() if running.transcript is not None]

    def transcript(self, slot: int) -> Transcript:
        """The conversation of the episode in `slot`, whose env has been reset."""
        transcript = self._running[slot].transcript
        assert transcript is not None
        return transcript

    def start(self, starts: Iterator[Start]) -> bool:
        """Start the next episodes in the free slots; returns whether any episode is running."""
        begun = dict(zip(self._free, starts, strict=False))
        self._free = self._free[len(begun) :]
        for slot, start in begun.items():
            spec = self._envs.spec_of(slot, start.id)
            self._running[slot] = RunningEpisode(replace(start, id=spec.id), spec, self._max_turns)
        mixture = bool(self._envs.shares)
        resets = {
            slot: Reset(start.seed, options_for(start.id, start.options) if mixture else start.options)
            for slot, start in begun.items()
        }
        self._envs.send(resets, autoreset="off")
        self.in_envs.update(begun)
        return bool(self.in_envs or self.in_policy)

    def freed(self, ended: Mapping[int, Episode], policy: Policy, starts: Iterator[Start]) -> Iterator[Episode]:
        """Start others in the slots of the episodes that have `ended`, and then yield these."""
        for slot in ended:
            policy.forget(slot)
            del self._running[slot]
        self._free += ended
        self.start(starts)
        yield from ended.values()

    def answered(self, answers: Mapping[int, Completion | Failure]) -> dict[int, Episode]:
        """Pass completions to the envs; returns the episodes that the policy cannot continue."""
        completions: dict[int, Completion] = {}
        ended: dict[int, Episode] = {}
        for slot, each in answers.items():
            if slot not in self.in_policy:
                raise PolicyError(f"the policy returned a completion for slot {slot!r}, which did not have a request")
            if isinstance(each, Completion) and isinstance(each.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                if each.out_of_context:
                    running = self._running[slot]
                    ended[slot] = running.truncated(out_of_context=True)
                    self._envs.reach.ended(running.start.id, None)
                else:
                    completions[slot] = each
            elif isinstance(each, Failure):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
                ended[slot] = self._running[slot].failed(each)
            else:
                raise PolicyError(f"recv() of a policy returns a gem.Completion for each slot, not {each!r:.80}")
        self.in_policy -= answers.keys()
        self._envs.send({slot: completion.text for slot, completion in completions.items()}, autoreset="off")
        for slot, completion in completions.items():
            self._running[slot].said(completion)
        self.in_envs |= completions.keys()
        return ended

    def stepped(self, result: SlotResult) -> Episode | None:
        """Add the result of an env; returns the episode if it has ended."""
        self.in_envs.discard(result.slot)
        running = self._running[result.slot]
        episode = running.stepped(result.step, result.failure)
        if episode is None:
            self.in_policy.add(result.slot)
        else:
            self.unreachable = self._envs.reach.ended(running.start.id, result.failure) or self.unreachable
        return episode
