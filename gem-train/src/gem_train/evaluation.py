"""Evaluation: success on fixed seeds that are never trained on, for the model, for random play and for the expert."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gem import seeding
from gem.errors import MissingInfo
from gem.rollout import Start, rollout
from gem.rollout.named_policies import make_policy
from gem.rollout.policy import Policy
from gem.rollout.report import Report
from gem.rollout.transcript import Episode
from gem.vector import VectorEnv
from gem_train.distributed.world import ALONE, World, flat
from gem_train.rows import Rows

AUTO = "auto"
"""The setting `warmup.policy` that leaves the choice to `choose_teacher`."""

ENOUGH = 0.2
"""Success rate of random play from which on rewards are frequent enough to learn from; below it the expert is imitated.
"""

EnvMaker = Callable[[int, Sequence[str]], VectorEnv]
"""Makes so many environments of a run, with these `info_methods` (see `gem.make_vec`)."""

Progress = Callable[[int, int], None]
"""Called with the number of episodes played and the number of episodes in all."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated: the same seeds for every policy."""

    id: str
    model: str
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

    def seeds(self) -> Iterator[int]:
        """The seeds of the episodes. None of them is trained on."""
        return (seeding.derive(self.seed, "evaluation", index) for index in range(self.episodes))

    def play(self, policy: Policy, progress: Progress) -> list[Episode]:
        """Play the episodes, in environments of their own, which are closed at the end; in the order of the seeds.

        Of a data set, each of its rows is asked once, so there may be fewer episodes.
        """
        starts: list[Start] = []

        def share() -> list[Episode]:
            played: list[Episode] = []
            with self.make_envs(min(self.num_envs, self.episodes), policy.info_methods) as envs:
                starts.extend(self.rows.evaluate(self.seeds(), envs.shares))
                progress(0, len(starts))
                for episode in rollout(policy, envs, self.world.share(starts)):
                    played.append(episode)
                    progress(min(len(starts), len(played) * self.world.size), len(starts))
            return played

        played = flat(self.world.together(share))
        order = {start.seed: index for index, start in enumerate(starts)}
        return sorted(played, key=lambda episode: order[episode.seed])

    def report(self, episodes: Sequence[Episode], policy: str | None = None) -> Report:
        """Statistics of episodes that `policy` played; by default the model."""
        return Report.of(episodes, id=self.id, policy=policy or self.model, seed=self.seed)

    def report_per_id(self, episodes: Sequence[Episode]) -> list[Report]:
        """Statistics for each id among the episodes of the model."""
        return Report.per_id(episodes, policy=self.model, seed=self.seed)

    def metrics(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """What an evaluation of the model found, with the 95% Wilson interval of its success."""
        report, per_id = self.report(episodes), self.report_per_id(episodes)
        low, high = report.success_ci
        return {
            "success": report.success,
            "success_low": low,
            "success_high": high,
            "return": report.return_mean,
            "turns": report.turns_mean,
            "episodes": report.episodes,
            "failures": report.failures,
            **({f"success/{each.id}": each.success for each in per_id} if len(per_id) > 1 else {}),
        }

    def baseline(self, policy: str, progress: Progress) -> Report | None:
        """Evaluate random play or the expert; None if the environment does not offer it."""
        with closing(make_policy(policy)) as player:
            try:
                return self.report(self.play(player, progress), policy)
            except MissingInfo:
                return None


@dataclass(frozen=True, slots=True)
class Baselines:
    """What was measured before the first step of training."""

    random: Report | None
    """None if the environment cannot sample actions."""
    expert: Report | None
    """None if the environment has no expert."""
    teacher: str
    """The policy that the warm-up imitates."""
    model: Report | None = None
    """The model after the warm-up; None until it has been evaluated."""

    def as_json(self) -> dict[str, Any]:
        """As plain data, for a checkpoint."""
        reports = {"random": self.random, "expert": self.expert, "model": self.model}
        plain = {name: report and report.as_json() for name, report in reports.items()}
        return {**plain, "teacher": self.teacher}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Baselines":
        """From what `as_json` returned."""
        reports = {name: values[name] and Report.from_json(values[name]) for name in ("random", "expert", "model")}
        return cls(**reports, teacher=values["teacher"])


def choose_teacher(policy: str, random: Report | None, expert: Report | None) -> str:
    """The policy that the warm-up imitates.

    Args:
        policy: the setting `warmup.policy`.
        random: how random play did.
        expert: how the expert did; None if there is none.
    """
    if policy != AUTO:
        return policy
    return "random" if expert is None or (random is not None and random.success >= ENOUGH) else "expert"
