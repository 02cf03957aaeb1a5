"""What this pack offers: the command `gemx train`, and the policy `checkpoint`."""

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
