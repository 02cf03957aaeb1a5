"""Evaluation: success on fixed seeds that are never trained on, for the model, for random play and for the expert."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gem import seeding
from gem.errors import MissingInfo
from gem.rollout import rollout
from gem.rollout.evaluation import Report
from gem.rollout.named_policies import make_policy
from gem.rollout.policy import Policy
from gem.rollout.transcript import Episode
from gem.vector import VectorEnv

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

    def seeds(self) -> Iterator[int]:
        """The seeds of the episodes. None of them is trained on."""
        return (seeding.derive(self.seed, "evaluation", index) for index in range(self.episodes))

    def play(self, policy: Policy, envs: VectorEnv, progress: Progress) -> list[Episode]:
        """Play the episodes."""
        progress(0, self.episodes)
        played: list[Episode] = []
        for episode in rollout(policy, envs, self.seeds()):
            played.append(episode)
            progress(len(played), self.episodes)
        return played

    def report(self, episodes: Sequence[Episode], policy: str | None = None) -> Report:
        """Statistics of episodes that `policy` played; by default the model."""
        return Report.of(episodes, id=self.id, policy=policy or self.model, seed=self.seed)

    def report_per_id(self, episodes: Sequence[Episode]) -> list[Report]:
        """Statistics for each id among the episodes of the model."""
        return Report.per_id(episodes, policy=self.model, seed=self.seed)

    def baseline(self, policy: str, make_envs: EnvMaker, num_envs: int, progress: Progress) -> Report | None:
        """Evaluate random play or the expert; None if the environment does not offer it."""
        with (
            closing(make_policy(policy)) as player,
            make_envs(min(num_envs, self.episodes), player.info_methods) as envs,
        ):
            try:
                return self.report(self.play(player, envs, progress), policy)
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
