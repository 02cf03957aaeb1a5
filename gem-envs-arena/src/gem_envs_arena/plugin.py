"""The table of this pack's games. Listing imports this module and no game."""

import gem

GEM_API = 1

_GAMES = (
    ("KuhnPoker", "kuhn_poker:KuhnPoker", "Poker with three cards and one bet, for two players", "hidden-information"),
)


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"arena:{name}-v0",
            entry_point=f"gem_envs_arena.{entry_point}",
            description=about,
            tags=("game", "multi-turn", "players", tag),
        )
        for name, entry_point, about, tag in _GAMES
    ]
