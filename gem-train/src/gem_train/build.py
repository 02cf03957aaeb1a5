"""From settings to objects, in one place."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gem.packs.importing import import_object
from gem.vector import VectorEnv
from gem_train.algorithms import ALGORITHMS
from gem_train.algorithms.base import Algorithm
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
def build(config: TrainConfig, checkpoint: Path | None = None, *, teacher: str = "random") -> Generator[Parts]:
    """Build everything that a run needs, and close it at the end.

    Args:
        config: the settings.
        checkpoint: whose weights to take.
        teacher: the policy whose words the tokenizer of `tiny` is made for.

    Raises:
        ConfigError: settings that name something that does not exist, or that do not fit each other.
    """
    algorithm: Algorithm = import_object(ALGORITHMS[config.algorithm])(**config.credit.model_dump())
    play = config.rollout
    with make_envs(config, play.num_envs) as envs:
        loaded = load_model(config, checkpoint and checkpoint / "model", teacher=teacher)
        chat = ChatEncoder(loaded.tokenizer, history=play.history, template_kwargs=play.template_kwargs)
        policy = HFPolicy(loaded.model, chat, max_new_tokens=play.max_new_tokens, temperature=play.temperature)
        learner = Learner(
            loaded.model, config.optim, steps=config.steps, temperature=play.temperature, seed=config.seed
        )
        yield Parts(loaded, chat, policy, envs, algorithm, learner)
