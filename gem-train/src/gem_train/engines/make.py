"""Making the sampler that the settings of a run name."""

from gem.packs.importing import import_object
from gem_train.config.training import TrainConfig
from gem_train.engines import ENGINES
from gem_train.engines.sampler import Sampler
from gem_train.models.loading import LoadedModel


def make_sampler(
    loaded: LoadedModel, config: TrainConfig, seed: int = 0, *, temperature: float | None = None
) -> Sampler:
    """A sampler of `config.rollout.engine` with the run's settings.

    Args:
        loaded: the model, with the weights that are sampled from at first, as version 0.
        config: the settings.
        seed: of the sampling.
        temperature: another than the settings'; training needs one above 0, playing does not.

    Raises:
        ConfigError: the engine cannot sample from this model, or not with these settings.
    """
    make = import_object(ENGINES[config.rollout.engine].make)
    play = config.rollout if temperature is None else config.rollout.model_copy(update={"temperature": temperature})
    return make(loaded, play, config.engine, seed)
