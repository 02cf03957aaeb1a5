"""The rollout: one loop that passes observations to a policy and actions to environments.

Both sides have `send` and `recv`. The loop passes on whatever is ready, so neither side waits for its slowest slot.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import cast

from gem.checks import check_int
from gem.episode import Completion, Episode, Start
from gem.errors import ConfigError, Failure, PolicyError, Unreachable
from gem.rollout.function_policy import FunctionPolicy, PolicyFunction
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import Policy
from gem.rollout.running import RunningEpisode
from gem.rollout.starts.by_weight import ByWeight
from gem.rollout.transcript import Transcript
from gem.vector import Reset, SlotResult, VectorEnv
from gem.vector.mixture import options_for

PAUSE = 0.001
"""Seconds to wait for the envs when neither side had a result."""
PATIENCE = 0.1
"""Seconds between two looks at which episodes are given up, and longest wait of a rollout that has to look."""


def rollout(
    policy: Policy | PolicyFunction | Mapping[str, Policy | PolicyFunction],
    envs: VectorEnv,
    starts: Iterable[int | Start | None],
    group_size: int = 1,
    *,
    max_turns: int | None = None,
    given_up: Callable[[Start], bool] | None = None,
) -> Generator[Episode]:
    """Play `group_size` episodes from each start, and yield them as they finish.

    Every episode that starts is played to its end, unless it is given up; one whose env or policy failed is yielded
    with its `failure`, and one whose conversation has outgrown the model's context is truncated. The iterator may be
    abandoned early. The envs may have any autoreset: the rollout resets them itself.

    Args:
        policy: a policy or a function (see `FunctionPolicy`), which plays for every player; or one for each player, by
            name. The envs must be made with its `info_methods`.
        envs: the vector. Several ids get their shares of the episodes: see `gem.rollout.starts.ByWeight`.
        starts: seeds, or `Start`s, which may choose the id and have options for the reset, such as those of a sampler
            (`gem.rollout.starts`). They are taken one at a time, as slots become free; may be endless. None means
            "not now": slots stay free until the next results, and the rollout ends if there are none to wait for.
        group_size: episodes from each start.
        max_turns: turns after which an episode is truncated; by default `MOST_TURNS`, or the `max_turns` of the spec if
            that is more.
        given_up: says of a start that its episode is not wanted any more; asked of those that are running, about ten
            times per second. Such an episode is abandoned once it waits for the policy; if it ends before, it is
            yielded. When only such episodes are left the rollout ends, without waiting for their envs. Starts that
            come later are taken as often.

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
        with ExitStack() as opened:
            made = _as_policy(policy, opened)
            yield from rollout(made, envs, starts, group_size, max_turns=max_turns, given_up=given_up)
        return
    upcoming = _Upcoming(starts, check_int("group_size", group_size, 1), envs.shares)
    active = _ActiveEpisodes(envs, None if max_turns is None else check_int("max_turns", max_turns, 1))
    # Drop the results of an abandoned rollout.
    envs.recv(min_results=envs.num_envs)
    try:
        pause, looked = 0.0, time.perf_counter()
        patience = None if given_up is None else PATIENCE
        while active.start(upcoming):
            # Wait for one side only if nothing is pending on the other. If neither had a result, pause.
            results = envs.recv(timeout=pause if active.in_policy else patience) if active.in_envs else []
            ended: dict[int, Episode] = {}
            waiting: dict[int, Transcript] = {}
            for result in results:
                episode = active.stepped(result, waiting)
                if episode is not None:
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
                answers = policy.recv(timeout=0 if active.in_envs else patience)
            # A policy that works in `recv` must not be kept from it.
            pause = 0.0 if results or answers or time.perf_counter() - asked > PAUSE else PAUSE
            yield from active.freed(active.answered(answers), policy, upcoming)
            if given_up is not None and time.perf_counter() - looked >= PATIENCE:
                if not active.goes_on(given_up, policy, upcoming):
                    break
                looked = time.perf_counter()
    finally:
        envs.abandon(active.running)
        for slot in list(active.running):
            active.forget(slot, policy)


def _as_policy(given: Policy | PolicyFunction | Mapping[str, Policy | PolicyFunction], opened: ExitStack) -> Policy:
    """The policy that a caller gave; functions are closed with `opened`."""
    if isinstance(given, Mapping):
        policies = cast("Mapping[str, Policy | PolicyFunction]", given)
        return PlayerPolicies({player: _as_policy(each, opened) for player, each in policies.items()})
    return given if isinstance(given, Policy) else opened.enter_context(closing(FunctionPolicy(given)))


class _Upcoming(Iterator[Start]):
    """Starts with an env by weight, each repeated `group_size` times; it may stop at a None, and have more later."""

    def __init__(self, starts: Iterable[int | Start | None], group_size: int, shares: Mapping[str, float]) -> None:
        self._given = iter(starts)
        self._group_size = group_size
        self._sampler = ByWeight(shares)
        self._members: deque[Start] = deque()

    def __next__(self) -> Start:
        if not self._members:
            given = next(self._given)
            if given is None:
                raise StopIteration
            start = given if isinstance(given, Start) else Start(given)
            if start.id is None:
                start = replace(start, id=self._sampler.start(start.seed).id)
            self._members.append(start)
            self._members.extend(replace(start, group=start.group + member) for member in range(1, self._group_size))
        return self._members.popleft()


class _ActiveEpisodes:
    """The running episodes by slot; each waits either for its env or for the policy."""

    def __init__(self, envs: VectorEnv, max_turns: int | None) -> None:
        self._envs = envs
        self._max_turns = max_turns
        self._free = list(range(envs.num_envs))
        self.running: dict[int, RunningEpisode] = {}
        self._players: dict[str, int] = {}
        """Distance of each player's conversations from the slots: several in a slot need numbers of their own."""
        self.in_envs: set[int] = set()
        self.in_policy: dict[int, int] = {}
        """Conversation → slot."""
        self.unreachable: Unreachable | None = None
        """The reason to play no more episodes."""

    def forget(self, slot: int, policy: Policy) -> None:
        """The episode of a slot has ended, or is abandoned."""
        for player in self.running.pop(slot).transcripts:
            if player in self._players:  # an episode may end with its reset
                policy.forget(slot + self._players[player])

    def start(self, starts: Iterator[Start]) -> bool:
        """Start the next episodes in the free slots; returns whether any episode is running."""
        begun = dict(zip(self._free, starts, strict=False))
        self._free = self._free[len(begun) :]
        for slot, start in begun.items():
            spec = self._envs.spec_of(slot, start.id)
            named = start if start.id == spec.id else replace(start, id=spec.id)
            self.running[slot] = RunningEpisode(named, spec, self._max_turns)
        mixture = bool(self._envs.shares)
        resets = {
            slot: Reset(start.seed, options_for(start.id, start.options) if mixture else start.options)
            for slot, start in begun.items()
        }
        self._envs.send(resets, autoreset="off")
        self.in_envs.update(begun)
        return bool(self.in_envs or self.in_policy)

    def goes_on(self, given_up: Callable[[Start], bool], policy: Policy, starts: Iterator[Start]) -> bool:
        """Start others in place of those that are given up and wait for the policy; returns whether any is wanted."""
        unwanted = {slot for slot, running in self.running.items() if given_up(running.start)}
        freed: list[int] = []
        for conversation, slot in list(self.in_policy.items()):
            if slot in unwanted:
                del self.in_policy[conversation]
                unwanted.remove(slot)
                self.forget(slot, policy)
                self._free.append(slot)
                freed.append(slot)
        self.start(starts)
        self._envs.abandon(slot for slot in freed if slot in self._free)
        return bool(self.running.keys() - unwanted)

    def freed(self, ended: Mapping[int, Episode], policy: Policy, starts: Iterator[Start]) -> Iterator[Episode]:
        """Start others in the slots of the episodes that have `ended`, and then yield these."""
        for slot in ended:
            self.forget(slot, policy)
        self._free += ended
        self.start(starts)
        # An episode may have ended for the rollout alone, such as by its limit of turns.
        self._envs.abandon(slot for slot in ended if slot in self._free)
        yield from ended.values()

    def answered(self, answers: Mapping[int, Completion | Failure]) -> dict[int, Episode]:
        """Pass completions to the envs; returns the episodes that the policy cannot continue."""
        completions: dict[int, Completion] = {}
        ended: dict[int, Episode] = {}
        for conversation, each in answers.items():
            slot = self.in_policy.pop(conversation, None)
            if slot is None:
                raise PolicyError(
                    f"the policy returned a completion for slot {conversation!r}, which did not have a request"
                )
            if isinstance(each, Completion) and isinstance(each.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                if each.out_of_context:
                    running = self.running[slot]
                    ended[slot] = running.truncated(out_of_context=True)
                    self._envs.reach.ended(running.start.id, None)
                else:
                    completions[slot] = each
            elif isinstance(each, Failure):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
                ended[slot] = self.running[slot].failed(each)
            else:
                raise PolicyError(f"recv() of a policy returns a gem.Completion for each slot, not {each!r:.80}")
        self._envs.send({slot: completion.text for slot, completion in completions.items()}, autoreset="off")
        for slot, completion in completions.items():
            self.running[slot].said(completion)
        self.in_envs |= completions.keys()
        return ended

    def stepped(self, result: SlotResult, waiting: dict[int, Transcript]) -> Episode | None:
        """Add the result of an env; returns the episode if it has ended, and adds its conversation if it waits."""
        self.in_envs.discard(result.slot)
        running = self.running[result.slot]
        episode = running.stepped(result.step, result.failure)
        if episode is None:
            if (player := running.player) not in self._players:
                self._players[player] = len(self._players) * self._envs.num_envs
            conversation = result.slot + self._players[player]
            self.in_policy[conversation] = result.slot
            waiting[conversation] = running.transcripts[player]
        else:
            self.unreachable = self._envs.reach.ended(running.start.id, result.failure) or self.unreachable
        return episode
