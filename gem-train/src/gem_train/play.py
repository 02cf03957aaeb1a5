"""What each step learns from: whole groups of episodes, which are at most `max_lag` updates old.

The groups of a run are numbered, and so many of them belong to each step. Where a group starts follows from the seed of
the run and its number alone. With `max_lag` 0 a step plays its own groups, no others. Otherwise the next groups start
as slots become free, episodes are played on while the weights change, and a step takes those that are complete; it
waits for the ones that would be too old for the step after it.
"""

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gem import seeding
from gem.errors import ConfigError
from gem.rollout import Start, assign, rollout
from gem.rollout.policy import Policy
from gem.rollout.transcript import Episode
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


@dataclass(slots=True)
class _Group:
    """Episodes that start alike."""

    number: int
    start: Start
    attempt: int
    """How many groups with this number have failed before."""
    version: int
    """Of the weights when it was started."""
    left: int
    """How many of its episodes are still to be started."""
    running: int = 0
    episodes: list[Episode] = field(default_factory=list[Episode])
    failed: bool = False

    @property
    def complete(self) -> bool:
        return not (self.left or self.running)


class Play:
    """The episodes of the steps of a run.

    Args:
        policy: plays them.
        envs: what it plays on. Several ids get their shares of the groups.
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
        everywhere = range(episodes // group_size)
        self._groups = everywhere if groups is None else groups
        self._groups_per_step = len(self._groups)
        self._group_size = group_size
        self._max_lag = max_lag
        self._place = place
        self._version = -1
        """That of the last `step`."""
        self._starts = self._own_starts(len(everywhere))
        self._next = 0
        """The number of the next group."""
        self._again: deque[tuple[int, Start, int]] = deque()
        """Number, start and attempt of groups to start before it."""
        self._starting: _Group | None = None
        self._open: dict[int, _Group] = {}
        """The groups that no step has taken yet, by the seeds of their starts."""
        self._taken: list[int] = []
        """The numbers of the groups that this step has taken."""
        self._replaced = 0
        """Groups that were replaced in this step."""
        self._failed: list[Episode] = []
        self._rollout: Generator[Episode] | None = None
        kept = envs.progress()
        self._progress = None if all(each is None for each in kept) else kept
        """What the envs keep from one episode to the next; None if that is nothing."""
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
        self._taken = [group.number for group in taken]
        for group in taken:
            del self._open[group.start.seed]
        if not self._open:
            self.close()
        if self._max_lag == 0:
            self._note_progress()
        failed, self._failed = self._failed, []
        episodes = [each for group in taken for each in sorted(group.episodes, key=lambda episode: episode.group)]
        return Played(episodes, failed)

    def drain(self) -> None:
        """Finish the running groups and start no others, so that the policy is free for something else."""
        steps, again = self._steps, self._again
        self._steps, self._again = 0, deque()
        try:
            while not all(group.complete for group in self._open.values()):
                self._advance()
            self.close()
        finally:
            self._steps = steps
            self._again.extend(again)

    def state(self, version: int) -> dict[str, Any]:
        """What a run needs to resume with `version` updates, as JSON.

        That is the groups that are still to be learned from, and what the envs keep. Until the update is made, they are
        those from before the step.
        """
        unmade = version == self._version
        if self._max_lag == 0:
            return self._before if unmade else self._state()
        self._note_progress()
        return self._state(self._taken if unmade else ())

    def _state(self, taken: Iterable[int] = ()) -> dict[str, Any]:
        numbers = {*(group.number for group in self._open.values()), *(number for number, _, _ in self._again), *taken}
        return {"next": self._next, "again": sorted(numbers), "envs": self._progress}

    def resume(self, states: Sequence[Mapping[str, Any]], world: World, version: int) -> None:
        """Restore what is this process's of the `states` of all processes; `version` updates were made.

        Raises:
            ConfigError: there are more or fewer processes now, and the states cannot be divided among them.
        """
        if len(states) == world.size:
            self.restore(states[world.rank])
        elif any(state["again"] or state["envs"] is not None for state in states):
            raise ConfigError(
                f"the run has been made by {len(states)} processes, with max_lag or with envs that keep something "
                f"from one episode to the next: resume it with {len(states)} processes"
            )
        else:
            self.restore({"next": version * self._groups_per_step, "again": [], "envs": None})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`, before the first step."""
        again = set(state["again"])
        for number, start in zip(range(state["next"]), self._starts, strict=False):
            if number in again:
                self._again.append((number, start, 0))
        self._next = state["next"]
        if state["envs"] is not None:
            self._envs.set_progress(state["envs"])
            self._progress = state["envs"]

    def close(self) -> None:
        """Abandon the episodes that are running; their groups start again in the next step."""
        if self._rollout is not None:
            self._rollout.close()
            self._rollout = None
        for group in [group for group in self._open.values() if not group.complete]:
            del self._open[group.start.seed]
            self._again.append((group.number, group.start, group.attempt))
        self._starting = None

    def _note_progress(self) -> None:
        if self._progress is not None:
            self._progress = self._envs.progress()

    def _is_ready(self) -> bool:
        oldest = self._version - self._max_lag
        complete = sum(group.complete for group in self._open.values())
        waits = any(group.version <= oldest and not group.complete for group in self._open.values())
        return complete >= self._groups_per_step and not waits

    def _advance(self) -> None:
        """Play until an episode ends."""
        if self._rollout is None:
            self._rollout = rollout(self._policy, self._envs, self._upcoming())
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
        del self._open[group.start.seed]
        step, index = divmod(group.number, self._groups_per_step)
        seed = seeding.derive(self._seed, "train", step, self._groups[index], "again", group.attempt)
        self._again.append((group.number, replace(group.start, seed=seed), group.attempt + 1))

    def _upcoming(self) -> Iterator[Start | None]:
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
            yield replace(self._place(group.start), group=self._group_size - group.left - 1)

    def _new_group(self) -> _Group | None:
        if self._again:
            number, start, attempt = self._again.popleft()
        elif self._next < self._groups_per_step * min(self._version + 1 + self._max_lag, self._steps):
            number, start, attempt = self._next, next(self._starts), 0
            self._next += 1
        else:
            return None
        group = _Group(number, start, attempt, self._version, left=self._group_size)
        self._open[start.seed] = group
        return group

    def _own_starts(self, groups: int) -> Iterator[Start]:
        """Where the groups start, out of so many in a step."""
        places = (divmod(number, groups) for number in itertools.count())
        indices = itertools.cycle(range(groups))
        seeds = (seeding.derive(self._seed, "train", step, index) for step, index in places)
        every = zip(indices, assign(seeds, self._envs.shares), strict=False)
        return (start for index, start in every if index in self._groups)


def played_in_order(policy: Policy, envs: VectorEnv, starts: Iterable[Start]) -> Iterator[Episode]:
    """Play episodes from different seeds and yield them in the order of their starts, however they finish.

    Each slot plays one of every `envs.num_envs` starts, so that what its env keeps, such as the level of a curriculum,
    does not depend on time either.
    """
    waiting = iter(starts)
    while chunk := list(itertools.islice(waiting, envs.num_envs)):
        order = {start.seed: index for index, start in enumerate(chunk)}
        yield from sorted(rollout(policy, envs, chunk), key=lambda episode: order[episode.seed])


def drawn(episodes: int, count: int, seed: int) -> list[int]:
    """The indices of `count` of so many episodes, each with equal chances, in order."""
    return sorted(seeding.generator(seed).sample(range(episodes), min(count, episodes)))
