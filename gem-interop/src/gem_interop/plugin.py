"""What this pack offers: ids of other libraries, and `gemx serve`. Listing imports none of the libraries."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_sources() -> list[gem.EnvSource]:
    return [
        gem.EnvSource(
            namespace="gymnasium",
            form="gymnasium:NAME",
            description="An environment of Gymnasium with text or discrete actions: gemx list gymnasium",
            resolve="gem_interop.envs.lookup:gymnasium",
            names="gem_interop.envs.lookup:gymnasium_names",
            safe=True,
        ),
        gem.EnvSource(
            namespace="openenv",
            form="openenv:URL",
            description="An environment on a server of OpenEnv, such as gemx serve",
            resolve="gem_interop.envs.lookup:openenv",
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
