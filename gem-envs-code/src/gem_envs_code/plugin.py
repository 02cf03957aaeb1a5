"""The specs of this pack. Listing environments loads this module, but no environment."""

import gem
from gem_envs_code import sources

GEM_API = 1

PUZZLES = (
    ("", "medium", "a few steps on a list or a text"),
    ("-easy", "easy", "one expression"),
    ("-hard", "hard", "many steps, or an algorithm"),
)


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id="code:Basics-v0",
            entry_point="gem_envs_code.basics:Basics",
            description="Write a small Python program that passes hidden tests",
            tags=("code", "single-turn", "runs-programs"),
        ),
        *(
            gem.EnvSpec(
                id=f"code:Puzzles-v0{suffix}",
                entry_point="gem_envs_code.puzzles.env:Puzzles",
                kwargs={"difficulty": difficulty},
                description=f"Write a program for a generated puzzle: {about}",
                tags=("code", "single-turn", "procedural", "runs-programs"),
            )
            for suffix, difficulty, about in PUZZLES
        ),
        *sources.specs(),
    ]


@gem.hookimpl
def gem_probes() -> dict[str, str]:
    return {"cheats": "gem_envs_code.cheating.probe:probe"}


@gem.hookimpl
def gem_diagnostics() -> dict[str, str]:
    return {"sandbox": "gem_sandbox.diagnostics:diagnose", "languages": "gem_sandbox.diagnostics:diagnose_languages"}
