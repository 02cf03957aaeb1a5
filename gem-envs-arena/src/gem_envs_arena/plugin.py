"""The table of this pack's games. Listing imports this module and no game."""

from collections.abc import Mapping

import gem

GEM_API = 1

_GAMES = (
    ("KuhnPoker", "kuhn_poker:KuhnPoker", "Poker with three cards and one bet, for two players", "hidden-information"),
    ("TicTacToe", "tic_tac_toe:TicTacToe", "Three in a line on nine cells, for two players", "board"),
    ("ConnectFour", "connect_four:ConnectFour", "Four in a line of falling disks, for two players", "board"),
    (
        "PrisonersDilemma",
        "prisoners_dilemma:PrisonersDilemma",
        "Cooperate or defect, round after round",
        "sealed-moves",
    ),
    ("Negotiation", "negotiation:Negotiation", "Share items whose values the other does not know", "free-text"),
    ("Undercover", "undercover:Undercover", "Find out which of three has another secret word, from clues", "free-text"),
)

_DILEMMA = "The dilemma itself: who wins has more than the other, and two who cooperate have more than a winner."
_KNOWN: Mapping[str, Mapping[str, str]] = {
    "PrisonersDilemma": {
        "constant": "Random play does not react to what was done to it, so to defect always is best.",
        "repeated_reward": _DILEMMA,
        "reward_against_success": _DILEMMA,
    },
}
"""What the audit finds against random play, and why it stays."""


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"arena:{name}-v0",
            entry_point=f"gem_envs_arena.{entry_point}",
            description=about,
            tags=("game", "multi-turn", "players", tag),
            known_findings=_KNOWN.get(name, {}),
        )
        for name, entry_point, about, tag in _GAMES
    ]
