"""The environments of a run."""

from collections.abc import Sequence

from gem.vector import VectorEnv, make_vec
from gem_train.config import TrainConfig


def make_envs(config: TrainConfig, num_envs: int, info_methods: Sequence[str] = ()) -> VectorEnv:
    """`num_envs` environments as the settings say; see `gem.make_vec` for `info_methods` and for what it raises."""
    return make_vec(
        config.id,
        num_envs,
        backend=config.rollout.backend,
        wrappers=config.wrappers,
        info_methods=info_methods,
        env_kwargs=config.env,
    )
