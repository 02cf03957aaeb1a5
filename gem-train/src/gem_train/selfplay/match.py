"""The policies of the players in training: who plays for whom, and which traces are learned from."""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gem import seeding
from gem.episode import Episode, Start, Trace
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem_train.batch import traces_of
from gem_train.engines.sampler import Sampler
from gem_train.selfplay.pool import Pool
from gem_train.selfplay.seats import Seats

if TYPE_CHECKING:
    from torch import Tensor

LEARNER = "learner"
"""The name of the policy that learns, among those of a match."""

Weights = Callable[[int], "Iterable[tuple[str, Tensor]]"]
"""Reads the weights of the member of a pool that joined after so many steps."""


class Match:
    """A match without opponents: the learner plays for every player.

    Args:
        learner: the sampler of the model that is trained.
        players: the players whose traces are trained on; by default all.
    """

    def __init__(self, learner: Sampler, players: Collection[str] = ()) -> None:
        self.policy: Policy = learner
        """Plays for all players."""
        self._players = players

    def begin(self, step: int, read: Weights) -> None:
        """Choose whom the learner meets in the step that updates the weights of this version."""

    def trained(self, episode: Episode) -> Iterable[Trace]:
        """The traces of an episode that are learned from."""
        return traces_of(episode, self._players)

    def seen(self, episode: Episode) -> Episode:
        """The episode as it was for the learner, for metrics."""
        return episode

    def members(self, step: int) -> Sequence[int]:
        """The members of the pool after so many steps; the last one may be the model of now."""
        return ()

    def sleep(self) -> None:
        """Free the memory of a device that is shared with the learner."""

    def learned(self, step: int, episodes: Iterable[Episode]) -> None:
        """Keep the results of the episodes of a step."""

    def metrics(self) -> dict[str, float]:
        """Measurements of the pool."""
        return {}

    def state(self) -> Any:
        """The state for `restore`, as JSON."""
        return None

    def restore(self, state: Any) -> None:
        """Resume from a `state`."""


class SeatedMatch(Match):
    """A match in which the learner is one player of each game, and an opponent is the others.

    Args:
        learner: the sampler of the model that is trained.
        seats: which player it is.
        opponents: policies that play for the others, by name; none is closed here. The first one does, unless a
            subclass chooses.
    """

    def __init__(self, learner: Sampler, seats: Seats, opponents: Mapping[str, Policy]) -> None:
        super().__init__(learner)
        self._seats, self._opponents = seats, tuple(opponents)
        self.policy = PlayerPolicies({LEARNER: learner, **opponents}, self._name_of)

    def _opponent(self, start: Start) -> str:
        """The name of the policy that plays for the others; it may be the learner's."""
        return self._opponents[0]

    def _name_of(self, asked: Transcript) -> str:
        start = asked.start
        assert start is not None
        return LEARNER if asked.player == self._seats.of(start) else self._opponent(start)

    def trained(self, episode: Episode) -> Iterable[Trace]:
        """The trace of the learner; those of all players that it may be, where it plays for all."""
        start = episode.start
        alone = self._opponent(start) == LEARNER
        return traces_of(episode, self._seats.players[start.id or ""] if alone else (self._seats.of(start),))

    def seen(self, episode: Episode) -> Episode:
        return self._seats.seen(episode)


class PoolMatch(SeatedMatch):
    """A match against earlier selves, and the present one.

    Who meets whom follows from the seed of the run and of the episode, so that it is the same for all episodes of a
    group and after a run was resumed.

    Args:
        learner: the sampler of the model that is trained.
        seats: which player it is.
        samplers: of models like the learner's, for the weights of members of the pool: as many are met in a step.
        pool: the earlier selves.
        present: the share of games against the present self.
        seed: of the run.
    """

    def __init__(
        self, learner: Sampler, seats: Seats, samplers: Sequence[Sampler], pool: Pool, *, present: float, seed: int
    ) -> None:
        self._samplers = {f"opponent {number}": sampler for number, sampler in enumerate(samplers)}
        super().__init__(learner, seats, self._samplers)
        self._pool, self._present, self._seed = pool, present, seed
        self._members: dict[int, str] = {}
        """Those that are met in this step, and the sampler of each."""

    def begin(self, step: int, read: Weights) -> None:
        drawn = self._pool.draw(step, len(self._samplers), seeding.derive(self._seed, "opponents", step))
        stay = {member: name for member, name in self._members.items() if member in drawn}
        free = [name for name in self._samplers if name not in stay.values()]
        self._members = {member: stay.get(member) or free.pop() for member in drawn}
        for member, name in self._members.items():
            sampler = self._samplers[name]
            sampler.reseed(seeding.derive(self._seed, "sampling", step, "opponents"))
            if member not in stay:
                sampler.load(read(member), member)

    def _member(self, start: Start) -> int | None:
        """The member that is met; None for the present self."""
        rng = random.Random(seeding.derive(self._seed, "opponent", start.seed))
        return None if rng.random() < self._present else rng.choice(list(self._members))

    def _opponent(self, start: Start) -> str:
        member = self._member(start)
        return LEARNER if member is None else self._members[member]

    def members(self, step: int) -> Sequence[int]:
        return self._pool.members(step)

    def sleep(self) -> None:
        for sampler in self._samplers.values():
            sampler.sleep()

    def learned(self, step: int, episodes: Iterable[Episode]) -> None:
        results: dict[int, list[bool]] = {}
        for episode in episodes:
            if (member := self._member(episode.start)) is not None:
                results.setdefault(member, []).append(self._seats.seen(episode).success)
        self._pool.add(step, results)

    def metrics(self) -> dict[str, float]:
        return self._pool.metrics()

    def state(self) -> Any:
        return self._pool.state()

    def restore(self, state: Any) -> None:
        self._pool.restore(state)
