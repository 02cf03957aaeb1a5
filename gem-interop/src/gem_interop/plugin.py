"""Offers of this pack: ids of other libraries, and `gemx serve`. Listing imports none of the libraries."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_sources() -> list[gem.EnvSource]:
    return [
        gem.EnvSource(
            namespace="gymnasium",
            form="gymnasium:NAME",
            description="An environment of Gymnasium with text or discrete actions: gemx list gymnasium",
            resolve="gem_interop.envs.gymnasium:resolve",
            names="gem_interop.envs.gymnasium:names",
            safe=True,
        ),
        gem.EnvSource(
            namespace="nemo",
            form="nemo:URL",
            description="A resources server of NeMo Gym",
            resolve="gem_interop.envs.nemo:resolve",
        ),
        gem.EnvSource(
            namespace="openenv",
            form="openenv:URL",
            description="An environment on a server of OpenEnv, such as gemx serve",
            resolve="gem_interop.envs.openenv:resolve",
        ),
        gem.EnvSource(
            namespace="skyrl",
            form="skyrl:NAME",
            description="An environment of SkyRL's skyrl_gym, on rows of yours: gemx list skyrl",
            resolve="gem_interop.envs.skyrl:resolve",
            names="gem_interop.envs.skyrl:names",
        ),
        gem.EnvSource(
            namespace="textarena",
            form="textarena:NAME",
            description="A game of TextArena for one player: gemx list textarena",
            resolve="gem_interop.envs.textarena:resolve",
            names="gem_interop.envs.textarena:names",
            safe=True,
        ),
    ]


@gem.hookimpl
def gem_commands() -> list[gem.CommandSpec]:
    return [
        gem.CommandSpec(
            name="serve",
            entry_point="gem_interop.serve.cli:serve",
            help="Serve environments by the protocol of OpenEnv, to many clients at once",
        ),
    ]
