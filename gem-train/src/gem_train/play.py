"""The episodes of each training step: whole groups of episodes, which are at most `max_lag` updates old.

The groups of a run are numbered, and so many of them belong to each step. The seed of a group follows from that of the
run and its number, and a sampler of starts chooses what is played from it. With `max_lag` 0 a step plays its own
groups, no others. Otherwise the next groups start as slots become free, episodes are played on while the weights
change, and a step takes those that are complete; it waits for the ones that would be too old for the step after it.
"""

import random
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gem import seeding
from gem.episode import Episode
from gem.errors import ConfigError
from gem.rollout import Start, rollout
from gem.rollout.policy import Policy
from gem.rollout.starts import ByWeight, StartSampler
from gem.vector import VectorEnv
from gem_train.distributed.world import World


@dataclass(frozen=True, slots=True)
class Played:
    """The `episodes` of a step, in the order of their starts, and those that `failed` since the step before.

    A group in which an episode failed is replaced as a whole, by one from another seed; at most as many groups are
    replaced as a step has, and beyond that it has fewer.
    """

    episodes: list[Episode]
    failed: list[Episode]


class _Upcoming(NamedTuple):
    """A group that is still to be started."""

    number: int
    start: Start
    attempt: int = 0
    """The number of groups in this place that have failed before."""


@dataclass(slots=True)
class _Group:
    """Episodes that start alike."""

    planned: _Upcoming
    version: int
    """The version of the weights when it was started."""
    left: int
    """The number of its episodes that are still to be started."""
    running: int = 0
    episodes: list[Episode] = field(default_factory=list[Episode])
    failed: bool = False

    @property
    def number(self) -> int:
        return self.planned.number

    @property
    def complete(self) -> bool:
        return not (self.left or self.running)


class Play:
    """The episodes of the steps of a run.

    Args:
        policy: plays them.
        envs: what it plays on.
        starts: chooses where groups start; by default several ids get their shares of the groups.
        seed: of the run.
        steps: of the run; no episode starts that they will not use.
        episodes: in a step.
        group_size: how many of them start alike; a divisor of `episodes`.
        max_lag: how many updates older than the weights the oldest reply of an episode may be when it is learned from.
        place: adds to a start what it needs besides the seed, such as the row of a data set.
        groups: which of the groups of a step are played here; by default all of them.
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
        place: Callable[[Start], Start] = lambda start: start,
        groups: Sequence[int] | None = None,
    ) -> None:
        self._policy = policy
        self._envs = envs
        self._seed = seed
        self._steps = steps
        self._all_groups = range(episodes // group_size)
        self._groups = self._all_groups if groups is None else groups
        self._groups_per_step = len(self._groups)
        self._group_size = group_size
        self._max_lag = max_lag
        self._place = place
        self._version = -1
        """The version of the last `step`."""
        self._starts = starts or ByWeight(envs.shares)
        self._steps_planned = 0
        """The steps whose groups were given their starts."""
        self._upcoming: deque[_Upcoming] = deque()
        """The groups to start next."""
        self._starting: _Group | None = None
        self._open: dict[int, _Group] = {}
        """The groups that no step has taken yet, by the seeds of their starts."""
        self._taken: list[_Upcoming] = []
        """The groups that this step has taken."""
        self._replaced = 0
        """Groups that were replaced in this step."""
        self._failed: list[Episode] = []
        self._rollout: Generator[Episode] | None = None
        self._before: dict[str, Any] = {}
        """The state before the last `step`."""

    def step(self, version: int) -> Played:
        """Play until the next update can be made.

        Args:
            version: of the weights that are updated: the number of updates before.
        """
        self._before = self._state()
        self._version, self._replaced, self._taken = version, 0, []
        while not self._is_ready():
            self._advance()
        complete = [group for group in self._open.values() if group.complete]
        # The oldest first: for the next step they would be too old.
        complete.sort(key=lambda group: (group.version, group.number))
        taken = sorted(complete[: self._groups_per_step], key=lambda group: group.number)
        self._taken = [group.planned for group in taken]
        for group in taken:
            del self._open[group.planned.start.seed]
        if not self._open:
            self.close()
        failed, self._failed = self._failed, []
        episodes = [each for group in taken for each in sorted(group.episodes, key=lambda episode: episode.group)]
        return Played(episodes, failed)

    def drain(self) -> None:
        """Finish the running groups and start no others, so that the policy is free for something else."""
        steps, upcoming = self._steps, self._upcoming
        self._steps, self._upcoming = 0, deque()
        try:
            while not all(group.complete for group in self._open.values()):
                self._advance()
            self.close()
        finally:
            self._steps = steps
            self._upcoming.extend(upcoming)

    def state(self, version: int) -> dict[str, Any]:
        """The state from which a run resumes with `version` updates, as JSON.

        It has the groups that are still to be learned from, and the state of the sampler of starts. Until the update is
        made, they are those from before the step.
        """
        unmade = version == self._version
        if self._max_lag == 0:
            return self._before if unmade else self._state()
        return self._state(self._taken if unmade else ())

    def _state(self, taken: Iterable[_Upcoming] = ()) -> dict[str, Any]:
        planned = sorted([*taken, *(group.planned for group in self._open.values()), *self._upcoming])
        starts = [
            (number, {"seed": start.seed, "id": start.id, "options": start.options}, attempt)
            for number, start, attempt in planned
        ]
        return {"steps": self._steps_planned, "upcoming": starts, "starts": self._starts.state()}

    def resume(self, states: Sequence[Mapping[str, Any]], world: World) -> None:
        """Restore what is this process's of the `states` of all processes.

        Raises:
            ConfigError: there are more or fewer processes now, and the states cannot be divided among them.
        """
        alike = len(states) == world.size
        if not alike and any(state["upcoming"] for state in states):
            raise ConfigError(
                f"the run has been made by {len(states)} processes, with max_lag: resume it with as many processes"
            )
        # What the sampler of starts keeps is the same in every process.
        self.restore(states[world.rank if alike else 0])

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`, before the first step."""
        self._steps_planned = state["steps"]
        self._upcoming = deque(
            _Upcoming(number, Start(**start), attempt) for number, start, attempt in state["upcoming"]
        )
        self._starts.restore(state["starts"])

    def close(self) -> None:
        """Abandon the episodes that are running; their groups start again in the next step."""
        if self._rollout is not None:
            self._rollout.close()
            self._rollout = None
        broken_off = [group.planned for group in self._open.values() if not group.complete]
        for planned in broken_off:
            del self._open[planned.start.seed]
        self._upcoming.extendleft(reversed(broken_off))
        self._starting = None

    def _is_ready(self) -> bool:
        oldest = self._version - self._max_lag
        complete = sum(group.complete for group in self._open.values())
        waits = any(group.version <= oldest and not group.complete for group in self._open.values())
        return complete >= self._groups_per_step and not waits

    def _advance(self) -> None:
        """Play until an episode ends."""
        if self._rollout is None:
            self._rollout = rollout(self._policy, self._envs, self._episode_starts())
        try:
            episode = next(self._rollout)
        except BaseException as error:
            self.close()
            if isinstance(error, StopIteration):
                raise RuntimeError("no episode of this run is left to play") from error
            raise
        group = self._open[episode.seed]
        group.running -= 1
        if episode.failure is None:
            group.episodes.append(episode)
        else:
            self._failed.append(episode)
            # The rest of the group is not worth starting.
            group.failed, group.left = True, 0
        if group.failed and group.complete:
            self._give_up(group)

    def _give_up(self, group: _Group) -> None:
        """Start another group in place of one that has failed."""
        group.episodes.clear()
        if self._replaced == self._groups_per_step:
            return
        self._replaced += 1
        number, start, attempt = group.planned
        del self._open[start.seed]
        step, index = divmod(number, self._groups_per_step)
        seed = seeding.derive(self._seed, "train", step, self._groups[index], "again", attempt)
        self._upcoming.appendleft(_Upcoming(number, replace(start, seed=seed), attempt + 1))

    def _episode_starts(self) -> Iterator[Start | None]:
        """The starts of the episodes; None while the next group would be too old when its turn comes."""
        while True:
            group = self._starting
            if group is None or not group.left:
                self._starting = group = self._new_group()
            if group is None:
                yield None
                continue
            group.left -= 1
            group.running += 1
            yield replace(self._place(group.planned.start), group=self._group_size - group.left - 1)

    def _new_group(self) -> _Group | None:
        if not self._upcoming and self._steps_planned < min(self._version + 1 + self._max_lag, self._steps):
            self._plan_step()
        if not self._upcoming:
            return None
        group = _Group(self._upcoming.popleft(), self._version, left=self._group_size)
        self._open[group.planned.start.seed] = group
        return group

    def _plan_step(self) -> None:
        """Choose the starts of all groups of the next step, and keep those that are played here."""
        step = self._steps_planned
        seeds = [seeding.derive(self._seed, "train", step, index) for index in self._all_groups]
        starts = list(map(self._starts.start, seeds))
        first = step * self._groups_per_step
        self._upcoming.extend(_Upcoming(first + place, starts[index]) for place, index in enumerate(self._groups))
        self._steps_planned += 1


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
