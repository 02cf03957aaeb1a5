"""Models that play roles in the environments and rewards of a run."""

from contextlib import AbstractContextManager, nullcontext

from gem.llm.models import use_models
from gem_eval.roles import with_concurrency
from gem_train.config.training import TrainConfig


def with_models(config: TrainConfig) -> AbstractContextManager[object]:
    """A context in which models play the roles of the settings; those behind a chat API are asked by all environments.

    Raises:
        GemError: a model does not exist, or a setting is refused.
    """
    if not config.models:
        return nullcontext()
    models = {role: with_concurrency(model, config.rollout.num_envs) for role, model in config.models.items()}
    return use_models(models, cache=config.cache)
