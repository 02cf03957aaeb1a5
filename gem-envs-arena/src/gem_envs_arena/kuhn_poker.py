"""Kuhn poker: three cards, two players, one bet."""

from collections.abc import Mapping
from typing import Any

from gem.core import Step
from gem.errors import ConfigError
from gem_envs_arena.game import TwoPlayerGame, box, read_move
from gem_envs_arena.kuhn_equilibrium import CARDS, equilibrium, information_set

_EQUILIBRIUM = equilibrium(1 / 3)
_LEGAL: Mapping[tuple[str, ...], list[str]] = {
    (): ["check", "bet"],
    ("check",): ["check", "bet"],
    ("bet",): ["fold", "call"],
    ("check", "bet"): ["fold", "call"],
}
"""Actions so far → what the player who acts next may do; the second of each puts a chip in."""
_MEANINGS = {"check": "put nothing in", "bet": "put 1 chip in", "fold": "give up the pot", "call": "put 1 chip in"}


class KuhnPoker(TwoPlayerGame):
    r"""Poker with a deck of three cards, J < Q < K, and at most one bet.

    Both players put an ante of 1 chip into the pot and get a card that only they see. The first player may check or
    bet 1 chip. After a check the second may check, which leads to a showdown, or bet 1 chip. Whoever faces a bet may
    fold, and the other wins the pot, or call with 1 chip, which leads to a showdown: the higher card wins the pot.

    Every observation has the own card, the pot and the legal actions. An action is `\boxed{bet}`; the last box with a
    legal action counts.

    Rewards: the chips that a player wins or loses, at the end: 1 or 2, of one player what the other loses. A reply
    without a legal action gives up the pot like a fold, also where there is no bet: it costs the ante, 1. `won` names
    the player who wins the pot.

    With `rules=False` a player does not read the rules first, only which player it is, its card, and what is legal.

    `reset(options={"cards": "JK"})` deals these cards, the first player's first.

    Source: H. W. Kuhn, A simplified two-person poker, Contributions to the Theory of Games I, 1950, pages 97 to 103.
    """

    reset_options = ("cards",)

    def __init__(self, rules: bool = True) -> None:
        super().__init__()
        self.rules = rules

    def _set_up(self, options: Mapping[str, Any]) -> None:
        drawn = "".join(self.rng.sample(CARDS, 2))
        cards = options.get("cards", drawn)
        if not isinstance(cards, str) or len(cards) != 2 or len(set(cards) & set(CARDS)) != 2:
            raise ConfigError(f"cards are two different ones of {CARDS}, such as 'JK', not {cards!r}")
        self.cards = dict(zip(self.players, cards, strict=True))
        self.actions: tuple[str, ...] = ()

    def _rules(self, player: str) -> str:
        if not self.rules:
            return f"You are the {player} player."
        return (
            "You are playing Kuhn poker with a deck of three cards, J < Q < K. Two players put an ante of 1 chip each "
            "into the pot and get a card that the other does not see. The first player checks or bets 1 chip. After a "
            "check the second checks (the higher card wins the pot) or bets 1 chip. Who faces a bet folds (the other "
            "wins the pot) or calls with 1 chip (the higher card wins the pot).\n"
            "Answer with an action inside \\boxed{}; the last legal one counts. A reply without one gives up the pot.\n"
            f"You are the {player} player."
        )

    def _request(self) -> str:
        pot = 2 + (self.actions[-1:] == ("bet",))
        choices = " or ".join(f"{box(action)} ({_MEANINGS[action]})" for action in self.legal)
        return f"Your card: {self.cards[self.player]}. The pot has {pot} chips. Your action: {choices}."

    @property
    def legal(self) -> list[str]:
        return _LEGAL[self.actions]

    def _step(self, action: str) -> Step:
        move = read_move(action, self.legal)
        if move is None:
            return self._forfeit()
        line = f"The {self.player} player {move}s."
        if move == "fold":
            return self._end(
                f"{line} The {self.other} player wins the pot.", {self.player: -1.0, self.other: 1.0}, [self.other]
            )
        if move == "call" or (self.actions == ("check",) and move == "check"):
            return self._showdown(line, 2.0 if move == "call" else 1.0)
        self.actions += (move,)
        self._tell(line)
        return self._next(self.other)

    def _showdown(self, line: str, stake: float) -> Step:
        winner, loser = sorted(self.players, key=lambda player: -CARDS.index(self.cards[player]))
        shown = f"The {winner} player has {self.cards[winner]}, the {loser} player {self.cards[loser]}"
        text = f"{line} {shown}: the {winner} player wins {stake:g}."
        return self._end(text, {winner: stake, loser: -stake}, [winner])

    def expert_action(self) -> str:
        """An equilibrium's action, drawn from `action_rng`: a bluff with J in a third of the cases, K always bets."""
        passive, active = self.legal
        chance = _EQUILIBRIUM[information_set(self.cards[self.player], self.actions)]
        return box(active if self.action_rng.random() < chance else passive)
