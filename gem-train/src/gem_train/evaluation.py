"""Evaluation: success on fixed seeds that are never trained on, for the model, for random play and for the expert."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from gem import seeding
from gem.episode import Episode
from gem.rewards import RewardPipeline, scored
from gem.rollout import Start, rollout
from gem.rollout.policy import Policy
from gem.vector import VectorEnv
from gem_eval.results import Result
from gem_eval.results.floors import FLOORS, play_floor
from gem_train.distributed.world import ALONE, World, flat
from gem_train.rows import Rows
from gem_train.selfplay.seats import Versus

AUTO = "auto"
"""The setting `warmup.policy` that leaves the choice to `choose_teacher`."""

ENOUGH = 0.2
"""Success rate of random play from which on rewards are frequent enough to learn from; below it the expert is imitated.
"""

EnvMaker = Callable[[int, Sequence[str]], VectorEnv]
"""Makes so many environments of a run, with these `info_methods` (see `gem.make_vec`)."""

AsOne = Callable[[Policy], Policy]
"""Adds its opponent to a policy, if it has one."""

Progress = Callable[[int, int], None]
"""Called with the number of episodes played and the number of episodes in all."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated: the same seeds for every policy."""

    id: str
    seed: int
    """Of the run; the seeds of the episodes are derived from it."""
    episodes: int
    make_envs: EnvMaker
    num_envs: int
    """The most environments that are played at once."""
    rows: Rows
    """Of data sets: which rows are asked."""
    world: World = ALONE
    """The processes that share the episodes."""
    reward: RewardPipeline | None = None
    """What scores the episodes besides their envs."""
    versus: Versus | None = None
    """Of a game, whom each policy meets; None if it plays for all players."""

    def seeds(self) -> Iterator[int]:
        """The seeds of the episodes. None of them is trained on."""
        return (seeding.derive(self.seed, "evaluation", index) for index in range(self.episodes))

    def play(self, policy: Policy, progress: Progress) -> list[Episode]:
        """Play the episodes, against the opponent of a game if there is one; in the order of the seeds.

        The environments are their own, and closed at the end. Of a data set, each of its rows is asked once, so there
        may be fewer episodes.
        """

        def play(as_one: AsOne, envs: VectorEnv, starts: Sequence[Start]) -> Iterable[Episode]:
            return rollout(as_one(policy), envs, starts)

        return self._play(play, policy.info_methods, progress)[0]

    def seen(self, episode: Episode) -> Episode:
        """An episode as it was for the policy that is measured, without its opponent."""
        return episode if self.versus is None else self.versus.seats.seen(episode)

    def floor(self, floor: str, progress: Progress) -> Result | None:
        """The result of random play or of the expert; None if an environment does not offer it."""
        played, asked = self._play(
            lambda as_one, envs, starts: play_floor(floor, envs, starts, as_one=as_one), (FLOORS[floor],), progress
        )
        return Result.of(map(self.seen, played), self.id) if len(played) == asked else None

    def _play(
        self,
        play: Callable[[AsOne, VectorEnv, Sequence[Start]], Iterable[Episode]],
        info_methods: Sequence[str],
        progress: Progress,
    ) -> tuple[list[Episode], int]:
        """The episodes, and the number of those that are asked for."""
        starts: list[Start] = []

        def share() -> list[Episode]:
            played: list[Episode] = []
            count = min(self.num_envs, self.episodes)
            with (
                nullcontext() if self.versus is None else self.versus.made() as opponent,
                self.make_envs(count, (*info_methods, *(opponent.info_methods if opponent else ()))) as envs,
            ):
                starts.extend(self.rows.evaluate(self.seeds(), envs.shares))
                progress(0, len(starts))
                starting = play(partial(self._as_one, opponent), envs, self.world.share(starts))
                for episode in scored(starting, self.reward):
                    played.append(episode)
                    progress(min(len(starts), len(played) * self.world.size), len(starts))
            return played

        played = flat(self.world.together(share))
        order = {start.seed: index for index, start in enumerate(starts)}
        return sorted(played, key=lambda episode: order[episode.seed]), len(starts)

    def _as_one(self, opponent: Policy | None, policy: Policy) -> Policy:
        """A policy, and its opponent if it has one."""
        return policy if opponent is None or self.versus is None else self.versus.seats.against(policy, opponent)


def metrics_of(whole: Result, per_id: Sequence[Result]) -> dict[str, float]:
    """The metrics of an evaluation of the model, with the 95% interval of its success."""
    low, high = whole.success_ci
    return {
        "success": whole.success,
        "success_low": low,
        "success_high": high,
        "return": whole.return_mean,
        "turns": whole.turns_mean,
        "episodes": whole.episodes,
        "failures": whole.failures,
        **success_per_id(per_id),
    }


def success_per_id(results: Sequence[Result]) -> dict[str, float]:
    """The metric of each id, if there are several."""
    return {f"success/{each.id}": each.success for each in results} if len(results) > 1 else {}


def choose_teacher(policy: str, random: Result | None, expert: Result | None) -> str:
    """The policy that the warm-up imitates.

    Args:
        policy: the setting `warmup.policy`.
        random: how random play did.
        expert: how the expert did; None if there is none.
    """
    if policy != AUTO:
        return policy
    return "random" if expert is None or (random is not None and random.success >= ENOUGH) else "expert"
