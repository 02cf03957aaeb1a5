"""Making the sampler that the settings of a run name."""

from gem.packs.importing import import_object
from gem_train.chat.make import make_chat
from gem_train.config.sections import RolloutConfig
from gem_train.distributed.world import ALONE, World
from gem_train.engines import ENGINES
from gem_train.engines.sampler import Sampler
from gem_train.engines.settings import EngineSettings
from gem_train.models.loading import LoadedModel


def make_sampler(
    loaded: LoadedModel,
    play: RolloutConfig,
    settings: EngineSettings,
    seed: int = 0,
    *,
    temperature: float | None = None,
    world: World = ALONE,
) -> Sampler:
    """A sampler of the engine `play.engine`.

    Args:
        loaded: the model, with the weights that are sampled from at first, as version 0.
        play: how episodes are played.
        settings: those of the engine.
        seed: of the sampling.
        temperature: another than the settings'; training needs one above 0, playing does not.
        world: the processes of the run.

    Raises:
        ConfigError: the engine cannot sample from this model, or not with these settings.
    """
    engine = ENGINES[play.engine]
    return import_object(engine.sampler)(
        loaded.model,
        make_chat(loaded, play),
        max_new_tokens=play.max_new_tokens,
        temperature=play.temperature if temperature is None else temperature,
        settings=settings,
        seed=seed,
        # An engine with weights of its own is told their type.
        **({"dtype": loaded.dtype} if engine.package else {}),
        **({"world": world} if engine.processes == "shared" else {}),
    )
