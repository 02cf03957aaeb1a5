"""The specs of this pack. Listing environments loads this module, but no environment."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"sql:Shop-v0{variant}",
            entry_point="gem_envs_sql.shop:Shop",
            kwargs={"customers": customers, "max_turns": max_turns},
            # The env counts turns itself.
            wrappers=({"name": "tool_env", "max_calls": None, "max_refused": None},),
            description=f"Answer a question about a shop of {customers} customers by querying its database",
            tags=("tools", "multi-turn", "sql"),
        )
        for variant, (customers, max_turns) in {"-easy": (4, 6), "": (12, 8), "-hard": (14, 4)}.items()
    ]
