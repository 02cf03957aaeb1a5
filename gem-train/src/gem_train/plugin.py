"""What this pack offers: the command `gemx train`, the policy `checkpoint`, and a line in `gemx doctor`."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_commands() -> list[gem.CommandSpec]:
    return [
        gem.CommandSpec(
            name="train",
            entry_point="gem_train.cli:train",
            help="Train a model on an environment by reinforcement learning",
        )
    ]


@gem.hookimpl
def gem_policies() -> dict[str, str]:
    return {"checkpoint": "gem_train.policies.checkpoint:checkpoint_policy"}


@gem.hookimpl
def gem_diagnostics() -> dict[str, str]:
    return {"training": "gem_train.devices:diagnose"}
