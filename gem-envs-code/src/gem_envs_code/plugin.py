"""The specs of this pack. Listing environments loads this module, but no environment."""

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


@gem.hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # Not `level` and `min_level`: they can switch isolation off.
    return {"gem_envs_code.basics:Basics": ("format_error_reward",)}


@gem.hookimpl
def gem_diagnostics() -> dict[str, str]:
    return {
        "sandbox": "gem_sandbox.diagnostics:diagnose",
        "languages": "gem_sandbox.diagnostics:diagnose_languages",
    }
