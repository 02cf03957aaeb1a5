"""What this pack offers: a table of specs. Listing loads this module and no environment."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id="code:Basics-v0",
            entry_point="gem_envs_code.basics:Basics",
            description="Write a small Python program that passes hidden tests",
            tags=("code", "single-turn", "runs-programs"),
        ),
    ]
