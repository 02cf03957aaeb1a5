"""What needs no model: how random play and the expert do, and which of them a model of random weights imitates."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from gem import seeding
from gem.errors import MissingInfo
from gem.rollout import rollout
from gem.rollout.evaluation import Report
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Episode
from gem_train.check import AUTO
from gem_train.config import TrainConfig
from gem_train.envs import make_envs

OFTEN = 0.2
"""Where random play succeeds at least so often, reinforcement has enough to start from; else the expert is imitated."""

Progress = Callable[[int, int], None]
"""Is told how many episodes of how many have been played."""


def evaluation_seeds(config: TrainConfig) -> Iterator[int]:
    """The seeds that are measured on, and never trained on."""
    return (seeding.derive(config.seed, "evaluation", index) for index in range(config.eval.episodes))


def baseline(config: TrainConfig, name: str, progress: Progress) -> dict[str, Any] | None:
    """How a policy that needs no model does on the evaluation's seeds; None where the env knows no expert."""
    num_envs = min(config.rollout.num_envs, config.eval.episodes)
    with closing(make_policy(name)) as policy, make_envs(config, num_envs, policy.info_methods) as envs:
        try:
            episodes = list(watched(rollout(policy, envs, evaluation_seeds(config)), config, progress))
        except MissingInfo:
            return None
    return Report.of(episodes, id=config.id, policy=name, seed=config.seed).as_json()


def watched(episodes: Iterable[Episode], config: TrainConfig, progress: Progress) -> Iterator[Episode]:
    """The same episodes of an evaluation; `progress` is told of each."""
    progress(0, config.eval.episodes)
    for number, episode in enumerate(episodes, start=1):
        progress(number, config.eval.episodes)
        yield episode


def teacher(config: TrainConfig, random: Mapping[str, Any] | None, expert: Mapping[str, Any] | None) -> str:
    """Whose play the warm-up imitates, given how random play and the expert did."""
    if config.warmup.policy != AUTO:
        return config.warmup.policy
    success = (random or {}).get("success") or 0.0
    return "random" if expert is None or success >= OFTEN else "expert"
