"""The iterated prisoner's dilemma, with sealed moves."""

from collections.abc import Mapping
from typing import Any

from gem.checks import check_int, finite
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_arena.game import TwoPlayerGame, box, read_move

_PAYOFFS = {
    ("cooperate", "cooperate"): (3.0, 3.0),
    ("cooperate", "defect"): (0.0, 5.0),
    ("defect", "cooperate"): (5.0, 0.0),
    ("defect", "defect"): (1.0, 1.0),
}
"""Choices of the first and the second player → points of both."""
_MUTUAL = 3.0
"""The points of a round in which both cooperate."""


class PrisonersDilemma(TwoPlayerGame):
    r"""Cooperate or defect, round after round, without knowing what the other chooses in the same round.

    Both earn 3 points if both cooperate and 1 if both defect; a player who defects alone earns 5, and the other 0. The
    first player is asked first, and the second does not see what it chose; then both see both. After each round the
    game goes on with a chance that both know, up to `max_rounds`.

    An action is `\boxed{cooperate}` or `\boxed{defect}`. Rewards: the points of a round, when both have chosen. A reply
    without a choice ends the game: it costs its player 1, and the other earns the 3 points of cooperation. `won` names
    the players with at least 3 points a round on average, as in mutual cooperation, which may be both; after such a
    reply it names the other.

    Source: R. Axelrod, Effective choice in the prisoner's dilemma, Journal of Conflict Resolution 24, 1980; a chance of
    going on instead of a fixed number of rounds is that of his second tournament.

    Args:
        continuation: the chance that another round follows, at least 0 and below 1.
        max_rounds: the most rounds, from 1 to 1000.
    """

    def __init__(self, continuation: float = 0.9, max_rounds: int = 20) -> None:
        super().__init__()
        self.continuation = finite("continuation", continuation)
        if not 0 <= self.continuation < 1:
            raise ConfigError(f"continuation is a chance, at least 0 and below 1, not {continuation!r}")
        self.max_rounds = check_int("max_rounds", max_rounds, 1, 1000)

    def _set_up(self, options: Mapping[str, Any]) -> None:
        self.rounds = 1
        """The rounds of this episode, which the players do not know."""
        while self.rounds < self.max_rounds and self.rng.random() < self.continuation:
            self.rounds += 1
        self.choices: list[tuple[str, str]] = []
        self.points = dict.fromkeys(self.players, 0.0)
        self._sealed: str | None = None
        """What the first player has chosen in this round."""

    def _rules(self, player: str) -> str:
        return (
            "You are playing the prisoner's dilemma, round after round. In each round both players cooperate or "
            "defect, and neither sees what the other chooses. If both cooperate, both get 3 points; if both defect, "
            "both get 1; if one defects alone, it gets 5 and the other 0. Another round follows with a chance "
            f"of {self.continuation:.0%}; there are at most {self.max_rounds} rounds. Get as many points as you can.\n"
            "Answer with \\boxed{cooperate} or \\boxed{defect}; the last one counts. A reply without one costs you "
            f"1 point and ends the game.\nYou are the {player} player."
        )

    def _request(self) -> str:
        number = len(self.choices) + 1
        return f"Round {number}. Your points: {self.points[self.player]:g}. {box('cooperate')} or {box('defect')}?"

    @property
    def legal(self) -> list[str]:
        return ["cooperate", "defect"]

    def _step(self, action: str) -> Step:
        choice = read_move(action, self.legal)
        if choice is None:
            text = f"The {self.player} player made no choice, which ends the game."
            return self._end(text, {self.player: -1.0, self.other: _MUTUAL}, [self.other], malformed=True)
        if self._sealed is None:
            self._sealed = choice
            return self._next(self.other)
        pair, self._sealed = (self._sealed, choice), None
        rewards = dict(zip(self.players, _PAYOFFS[pair], strict=True))
        self.choices.append(pair)
        for player, points in rewards.items():
            self.points[player] += points
        first, second = (
            f"the {player} player {chosen}s and gets {rewards[player]:g}"
            for player, chosen in zip(self.players, pair, strict=True)
        )
        text = f"Round {len(self.choices)}: {first}, {second}."
        if len(self.choices) == self.rounds:
            won = [player for player in self.players if self.points[player] >= _MUTUAL * self.rounds]
            totals = " to ".join(f"{points:g}" for points in self.points.values())
            return self._end(f"{text} The game is over: {totals} points.", rewards, won)
        self._tell(text)
        return self._next(self.other, rewards)

    def expert_action(self) -> str:
        """Tit for tat, the winner of Axelrod's tournaments: cooperates, then does what the other did last."""
        return box(self.choices[-1][1 - self.players.index(self.player)] if self.choices else "cooperate")
