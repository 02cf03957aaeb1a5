"""What this pack offers: the command `gemx serve`."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_commands() -> list[gem.CommandSpec]:
    return [
        gem.CommandSpec(
            name="serve",
            entry_point="gem_interop.serve.cli:serve",
            help="Serve environments by the protocol of OpenEnv, to many clients at once",
        ),
    ]
