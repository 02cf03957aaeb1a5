"""What the core itself offers, through the same door as every other pack."""

from gem.hookspecs import hookimpl
from gem.spec import EnvSpec

GEM_API = 1


@hookimpl
def gem_envs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id="core:Echo-v0",
            entry_point="gem.envs.echo:Echo",
            description="Say a word back: the smallest env there is, to try a policy or a trainer on",
            tags=("single-turn", "smoke-test"),
        ),
    ]


@hookimpl
def gem_policies() -> dict[str, str]:
    return {
        "random": "gem.policy:random_policy",
        "expert": "gem.policy:expert_policy",
    }
