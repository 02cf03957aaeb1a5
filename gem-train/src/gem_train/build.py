"""From settings to objects, in one place."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gem.errors import ConfigError, did_you_mean
from gem.vector import VectorEnv
from gem_train.algorithms import ALGORITHMS, Algorithm
from gem_train.chat import ChatEncoder
from gem_train.config import TrainConfig
from gem_train.envs import make_envs
from gem_train.learner import Learner
from gem_train.models import Loaded, load_model
from gem_train.policies.hf import HFPolicy


class Parts(NamedTuple):
    """What a run is made of."""

    loaded: Loaded
    chat: ChatEncoder
    policy: HFPolicy
    envs: VectorEnv
    algorithm: Algorithm
    learner: Learner


@contextmanager
def build(config: TrainConfig, checkpoint: Path | None = None) -> Generator[Parts]:
    """Build everything that a run needs, and close it at the end.

    Args:
        config: the settings.
        checkpoint: whose weights to take.

    Raises:
        ConfigError: settings that name something that does not exist, or that do not fit each other.
    """
    algorithm = build_algorithm(config)
    if config.rollout.episodes % config.rollout.group_size:
        raise ConfigError(
            f"rollout.episodes ({config.rollout.episodes}) must be a multiple of "
            f"rollout.group_size ({config.rollout.group_size})"
        )
    play = config.rollout
    with make_envs(config, play.num_envs) as envs:
        loaded = load_model(config, checkpoint and checkpoint / "model")
        chat = ChatEncoder(loaded.tokenizer, history=play.history, template_kwargs=play.template_kwargs)
        policy = HFPolicy(loaded.model, chat, max_new_tokens=play.max_new_tokens, temperature=play.temperature)
        learner = Learner(
            loaded.model, config.optim, steps=config.steps, temperature=play.temperature, seed=config.seed
        )
        yield Parts(loaded, chat, policy, envs, algorithm, learner)


def build_algorithm(config: TrainConfig) -> Algorithm:
    """The algorithm that the settings name.

    Raises:
        ConfigError: there is none of that name.
    """
    if config.algorithm not in ALGORITHMS:
        near = did_you_mean(config.algorithm, ALGORITHMS)
        raise ConfigError(f"there is no algorithm {config.algorithm!r}.{near} Known: {', '.join(ALGORITHMS)}")
    return ALGORITHMS[config.algorithm](**config.credit.model_dump())
