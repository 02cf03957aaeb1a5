"""The schedule of the episodes of a run: which groups may start, and which the next update learns from.

The groups of a run are numbered, and so many of them belong to each step. The seed of a group follows from that of the
run and its number, and a sampler of starts chooses what is played from it. Groups may be started as many steps ahead of
the weights as `max_lag` says; what they play is chosen when a step begins, so that no choice depends on time. A step
takes those that are complete, the oldest first; one that would be too old for the step after it is waited for, or
dropped and started again. Nothing here plays: `gem_train.play` does.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

from gem import seeding
from gem.episode import Episode, Trace
from gem.rollout import Start
from gem.rollout.starts import StartSampler
from gem_train.distributed.world import flat


@dataclass(slots=True)
class Counts:
    """What has become of the episodes of a run that were `started`; each is in one of the others, or still open."""

    started: int = 0
    learned: int = 0
    """In the batch of a step."""
    failed: int = 0
    dropped: int = 0
    """Given up, because they would have been too old."""
    replaced: int = 0
    """Left out, because another episode of their group failed."""
    filtered: int = 0
    """Left out by dynamic sampling, because all episodes of their group were rewarded alike."""
    abandoned: int = 0
    """Broken off where the run was, and started again when it was resumed."""

    @property
    def open(self) -> int:
        """The number of those that are running, or wait for a step."""
        ended = self.learned + self.failed + self.dropped + self.replaced + self.filtered + self.abandoned
        return self.started - ended

    def metrics(self) -> dict[str, float]:
        """The counts, for the metrics of a step."""
        counts = {**asdict(self), "open": self.open}
        return {f"episodes/{name}": count for name, count in counts.items()}

    @classmethod
    def sum(cls, each: Iterable[Self]) -> Self:
        """The counts of several processes together."""
        columns = zip(*(asdict(counts).values() for counts in each), strict=True)
        return cls(*map(sum, columns))


@dataclass(frozen=True, slots=True)
class Played:
    """The `episodes` of a step, in the order of their starts, and those left out since the step before.

    A group in which an episode failed is replaced as a whole, by one from another seed; at most as many groups are
    replaced as a step has, and beyond that it has fewer.
    """

    episodes: list[Episode]
    failed: list[Episode]
    filtered: list[Episode]
    """Those of groups that dynamic sampling replaced."""
    counts: Counts
    """Of the run so far."""

    @classmethod
    def together(cls, shares: Sequence[Self]) -> Self:
        """What several processes have played."""
        return cls(
            flat(each.episodes for each in shares),
            flat(each.failed for each in shares),
            flat(each.filtered for each in shares),
            Counts.sum(each.counts for each in shares),
        )


class _Planned(NamedTuple):
    """A group and where it starts."""

    number: int
    start: Start
    attempt: int = 0
    """The number of groups in this place that were replaced before."""
    dropped: int = 0
    """How often it was dropped."""


@dataclass(slots=True)
class _Group:
    """Episodes that start alike."""

    planned: _Planned
    version: int
    """The version of the weights when it was started."""
    left: int
    """The number of its episodes that are still to be started."""
    traces: Callable[[Episode], Iterable[Trace]]
    """The traces of an episode that are trained."""
    running: int = 0
    episodes: list[Episode] = field(default_factory=list[Episode])
    failed: bool = False

    @property
    def number(self) -> int:
        return self.planned.number

    @property
    def complete(self) -> bool:
        return not (self.left or self.running)

    @property
    def alike(self) -> bool:
        """True if its episodes are rewarded alike, turn by turn, each player that is trained by itself."""
        return len({tuple(trace.rewards for trace in self.traces(each)) for each in self.episodes}) == 1

    @property
    def open_episodes(self) -> int:
        """The number of its episodes that are running or complete."""
        return self.running + len(self.episodes)


class Groups:
    """The groups of a run, or of this process's part of it. See `gem_train.play.Play` for the arguments."""

    def __init__(
        self,
        starts: StartSampler,
        *,
        seed: int,
        steps: int,
        episodes: int,
        group_size: int,
        max_lag: int,
        drops: bool,
        dynamic_sampling: int,
        place: Callable[[Start], Start],
        groups: Sequence[int] | None,
        traces: Callable[[Episode], Iterable[Trace]],
    ) -> None:
        self.starts = starts
        self._seed = seed
        self._steps = steps
        self._all_groups = range(episodes // group_size)
        self._groups = self._all_groups if groups is None else groups
        self._groups_per_step = len(self._groups)
        self._group_size = group_size
        self._max_lag = max_lag
        self._drops = drops
        self._dynamic_sampling = dynamic_sampling
        self._place = place
        self._traces = traces
        self.draining = False
        """True while no group starts."""
        self._version = -1
        """The version of this step, or of the last one."""
        self._steps_planned = 0
        """The steps whose groups were given their starts."""
        self._upcoming: deque[_Planned] = deque()
        """The groups to start next."""
        self._starting: _Group | None = None
        self._open: dict[int, _Group] = {}
        """The groups that no step has taken yet, by the seeds of their starts."""
        self._taken: list[_Group] = []
        """The groups that this step has taken."""
        self._replaced = 0
        """Groups that were replaced in this step because they failed."""
        self._failed: list[Episode] = []
        self._filtered: list[Episode] = []
        self._counts = Counts()
        self._before: dict[str, Any] = {}
        """The state before the last step."""

    def begin(self, version: int) -> None:
        """Begin with the step that updates the weights of this version, and choose the starts until its end."""
        self._before = self._state()
        self._version, self._replaced, self._taken = version, 0, []
        while self._steps_planned < min(version + 1 + self._max_lag, self._steps):
            self._plan_step()

    @property
    def any_open(self) -> bool:
        """True if there are groups that no step has taken yet."""
        return bool(self._open)

    def are_complete(self) -> bool:
        """Whether no episode is running."""
        return all(group.complete for group in self._open.values())

    def are_ready(self) -> bool:
        """Whether the step can be made."""
        if sum(group.complete for group in self._open.values()) < self._groups_per_step:
            return False
        return self._drops or self.are_complete() or not (self._late() or self._overtaken())

    def take(self) -> Played:
        """The episodes of the step. What is too old for the next one is dropped."""
        self._taken = sorted(self._next(), key=lambda group: group.number)
        for group in self._taken:
            del self._open[group.planned.start.seed]
        for group in reversed(self._late()):
            self._drop(group)
        failed, self._failed = self._failed, []
        filtered, self._filtered = self._filtered, []
        episodes = [each for group in self._taken for each in sorted(group.episodes, key=lambda episode: episode.group)]
        self._counts.learned += len(episodes)
        return Played(episodes, failed, filtered, replace(self._counts))

    def can_start(self) -> bool:
        """Whether `next_start` has one."""
        if self._starting is not None and self._starting.left:
            return True
        return not self.draining and bool(self._upcoming)

    def next_start(self) -> Start | None:
        """The start of the next episode; None while the next group would be too old when its turn comes."""
        if not self.can_start():
            return None
        group = self._starting
        if group is None or not group.left:
            group = self._starting = _Group(self._upcoming.popleft(), self._version, self._group_size, self._traces)
            self._open[group.planned.start.seed] = group
        group.left -= 1
        group.running += 1
        self._counts.started += 1
        # Groups that were dropped are told apart by the indices of their episodes.
        member = (group.planned.dropped + 1) * self._group_size - group.left - 1
        return replace(self._place(group.planned.start), group=member)

    def is_given_up(self, start: Start) -> bool:
        """Whether the group of a start that has been played was dropped."""
        return self._group_of(start.seed, start.group) is None

    def ended(self, episode: Episode) -> None:
        """An episode has ended."""
        group = self._group_of(episode.seed, episode.group)
        if group is None:
            return
        group.running -= 1
        if episode.failure is None:
            group.episodes.append(episode)
        else:
            self._failed.append(episode)
            self._counts.failed += 1
            # The rest of the group is not worth starting.
            group.failed, group.left = True, 0
        if group.failed and group.complete:
            self._give_up(group)
        elif group.complete and group.planned.attempt < self._dynamic_sampling and group.alike:
            self._filtered += group.episodes
            self._counts.filtered += len(group.episodes)
            self._play_another(group.planned)

    def break_off(self) -> None:
        """No episode is running any more: groups that are not complete start again."""
        broken_off = [group for group in self._open.values() if not group.complete]
        for group in broken_off:
            del self._open[group.planned.start.seed]
            self._counts.abandoned += group.open_episodes
        self._upcoming.extendleft(group.planned for group in reversed(broken_off))
        self._starting = None

    def state(self, version: int) -> dict[str, Any]:
        """The state from which a run resumes with `version` updates, as JSON; see `Play.state`."""
        unmade = version == self._version
        if self._max_lag == 0:
            return self._before if unmade else self._state()
        return self._state(self._taken if unmade else ())

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`, before the first step. Episodes that were open then are abandoned."""
        self._steps_planned = state["steps"]
        self._upcoming = deque(
            _Planned(number, Start(**start), attempt) for number, start, attempt in state["upcoming"]
        )
        self._counts = Counts(**state["counts"])
        self._counts.abandoned += self._counts.open
        self.starts.restore(state["starts"])

    def _state(self, unmade: Sequence[_Group] = ()) -> dict[str, Any]:
        """The state, if the groups of the step are still to be learned from."""
        planned = sorted([*(group.planned for group in (*unmade, *self._open.values())), *self._upcoming])
        starts = [
            (each.number, {"seed": each.start.seed, "id": each.start.id, "options": each.start.options}, each.attempt)
            for each in planned
        ]
        learned = self._counts.learned - sum(len(group.episodes) for group in unmade)
        return {
            "steps": self._steps_planned,
            "upcoming": starts,
            "starts": self.starts.state(),
            "counts": {**asdict(self._counts), "learned": learned},
        }

    def _group_of(self, seed: int, member: int) -> _Group | None:
        """The open group of an episode; None if it has been dropped."""
        group = self._open.get(seed)
        return group if group is not None and group.planned.dropped == member // self._group_size else None

    def _next(self) -> list[_Group]:
        """The groups that the step would take now: of the complete ones the oldest, which would be too old first."""
        complete = [group for group in self._open.values() if group.complete]
        complete.sort(key=lambda group: (group.version, group.number))
        return complete[: self._groups_per_step]

    def _late(self) -> list[_Group]:
        """The groups that are too old for the next step, whoever takes this one; complete ones only if play drops."""
        oldest = self._version - self._max_lag
        return [
            group for group in self._open.values() if group.version <= oldest and (self._drops or not group.complete)
        ]

    def _overtaken(self) -> bool:
        """Whether the step would take so many newer groups that later steps cannot take all others in time."""
        taken = {group.planned.start.seed for group in self._next()}
        left = [group.version for seed, group in self._open.items() if seed not in taken]
        return any(
            sum(version <= self._version - self._max_lag + steps for version in left) > steps * self._groups_per_step
            for steps in range(1, self._max_lag)
        )

    def _drop(self, group: _Group) -> None:
        """Start a group again that is too old; if it has failed, another in its place."""
        self._counts.dropped += group.open_episodes
        group.episodes.clear()
        group.running = group.left = 0
        group.planned = group.planned._replace(dropped=group.planned.dropped + 1)
        if group.failed:
            self._give_up(group)
        else:
            del self._open[group.planned.start.seed]
            self._upcoming.appendleft(group.planned)

    def _give_up(self, group: _Group) -> None:
        """Start another group in place of one that has failed."""
        self._counts.replaced += len(group.episodes)
        group.episodes.clear()
        if self._replaced == self._groups_per_step:
            return
        self._replaced += 1
        self._play_another(group.planned)

    def _play_another(self, planned: _Planned) -> None:
        """Start another group in place of this one, which the sampler of starts chooses by its seed."""
        del self._open[planned.start.seed]
        step, index = divmod(planned.number, self._groups_per_step)
        seed = seeding.derive(self._seed, "train", step, self._groups[index], "again", planned.attempt)
        self._upcoming.appendleft(_Planned(planned.number, self.starts.again(planned.start, seed), planned.attempt + 1))

    def _plan_step(self) -> None:
        """Choose the starts of all groups of the next step, and keep those that are played here."""
        step = self._steps_planned
        seeds = [seeding.derive(self._seed, "train", step, index) for index in self._all_groups]
        starts = list(map(self.starts.start, seeds))
        first = step * self._groups_per_step
        self._upcoming.extend(_Planned(first + place, starts[index]) for place, index in enumerate(self._groups))
        self._steps_planned += 1
