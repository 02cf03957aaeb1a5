"""Negotiation: share items whose values the other player does not know."""

import re
from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any, Literal

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_arena.game import TwoPlayerGame, box
from gem_envs_arena.speech import quoted

ITEMS = ("book", "hat", "ball")
TOTAL = 10
"""What all items together are worth to each player."""
_MOST_OF_ONE = 4
_LONGEST = 500
"""Characters of a message that the other player reads."""

Bundle = tuple[int, int, int]
"""Numbers of books, hats and balls."""

_COUNTS: tuple[Bundle, ...] = tuple(
    (books, hats, balls)
    for books, hats, balls in product(range(1, _MOST_OF_ONE + 1), repeat=3)
    if 5 <= books + hats + balls <= 7
)
_OFFER = re.compile(r"\s*offer((?:[\s,]+[0-9]{1,3}){3})\s*", re.IGNORECASE)
_MESSAGE = re.compile(r"<message>((?:(?!</?message>).)*)</message>", re.DOTALL)
_ACCEPT_AT_RANDOM = 0.3


class Negotiation(TwoPlayerGame):
    r"""Agree on who gets which of five to seven items: books, hats and balls, which both players value differently.

    All items together are worth 10 points to each player. Each item is worth something to one of them, and at least one
    to both; neither knows what they are worth to the other. The players speak in turn: each makes an offer or accepts
    the last offer of the other.

    An action is `\boxed{offer 1 0 2}`: the numbers of books, hats and balls that the player itself would get, while the
    other gets the rest; or `\boxed{accept}`. The other player also reads what stands between `<message>` and
    `</message>` (500 characters of it), and nothing else of a reply.

    Rewards at the end: a tenth of what the own items are worth, after an agreement; 0 for both without one by the last
    turn. A reply without an offer or an acceptance that is possible ends the game without an agreement and costs its
    player 0.1. `won` names the players whose items are worth at least 5 to them.

    Source: M. Lewis, D. Yarats, Y. Dauphin, D. Parikh, D. Batra, Deal or no deal? End-to-end learning for negotiation
    dialogues, EMNLP 2017. There both players claim their items once they have stopped talking.

    Args:
        max_turns: turns of both players together, at least 2.
    """

    def __init__(self, max_turns: int = 10) -> None:
        super().__init__(max_turns=check_int("max_turns", max_turns, 2))

    def _set_up(self, options: Mapping[str, Any]) -> None:
        self.counts = self.rng.choice(_COUNTS)
        possible = _valuations(self.counts)
        while True:
            first, second = self.rng.choice(possible), self.rng.choice(possible)
            pairs = list(zip(first, second, strict=True))
            if all(a or b for a, b in pairs) and any(a and b for a, b in pairs):
                break
        self.values = dict(zip(self.players, (first, second), strict=True))
        self.offer: Bundle | None = None
        """What the other player would keep."""

    def _rules(self, player: str) -> str:
        return (
            "You are negotiating with another player about who gets which items. The items are worth something else to "
            f"the other player, but all together {TOTAL} points to each of you, and neither of you knows the values of "
            "the other. You speak in turn. Each time, make an offer or accept the last offer of the other. If you do "
            "not agree within the turns, both get nothing. Get as many points as you can.\n"
            "Answer with \\boxed{offer BOOKS HATS BALLS}, the numbers that you want for yourself, or with "
            "\\boxed{accept}; the last possible one counts. The other also reads what you write between <message> and "
            "</message>, and nothing else. A reply without a possible offer or an acceptance ends the talks and "
            f"costs you 0.1.\nYou are the {player} player."
        )

    def _request(self) -> str:
        left = self.turn_limit - self.turn
        own = ", ".join(f"{item} {value}" for item, value in zip(ITEMS, self.values[self.player], strict=True))
        possible = " to ".join([box("offer 0 0 0"), box(f"offer {' '.join(map(str, self.counts))}")])
        accept = f", or {box('accept')}" if self.offer else ""
        items = f"Items: {_listed(self.counts)}. Worth to you, each: {own}."
        return f"{items} Turns left: {left}. Your action: {possible}{accept}."

    @property
    def turn_limit(self) -> int:
        """`max_turns`, which every episode has."""
        assert self.max_turns is not None
        return self.max_turns

    @property
    def legal(self) -> list[str]:
        offers = [f"offer {' '.join(map(str, each))}" for each in product(*(range(count + 1) for count in self.counts))]
        return [*offers, "accept"] if self.offer else offers

    def _step(self, action: str) -> Step:
        move = boxed(action, self._read)
        if move is None:
            text = f"The {self.player} player made no possible offer, which ends the talks without an agreement."
            return self._end(text, {self.player: FORMAT_ERROR_REWARD, self.other: 0.0}, [], malformed=True)
        if isinstance(move, str):
            return self._agreed()
        self.offer = move
        messages = _MESSAGE.findall(action)
        said = f" and says {quoted(messages[-1].strip()[:_LONGEST])}" if messages else ""
        rest = _rest(self.counts, move)
        line = f"The {self.player} player offers to keep {_listed(move)} and to leave you {_listed(rest)}{said}."
        if self.last_turn:
            text = "The last turn is over without an agreement: both get nothing."
            return self._end(text, dict.fromkeys(self.players, 0.0), [])
        self._tell(line, self.other)
        return self._next(self.other)

    def _read(self, content: str) -> Bundle | Literal["accept"] | None:
        """The move in a box, if it is possible: what the player would get, or "accept"."""
        if self.offer and content.strip().lower() == "accept":
            return "accept"
        match = _OFFER.fullmatch(content)
        if match is None:
            return None
        wanted = tuple(int(number) for number in match[1].replace(",", " ").split())
        books, hats, balls = wanted
        possible = all(number <= count for number, count in zip(wanted, self.counts, strict=True))
        return (books, hats, balls) if possible else None

    def _agreed(self) -> Step:
        assert self.offer is not None
        shares = {self.other: self.offer, self.player: _rest(self.counts, self.offer)}
        points = {
            player: sum(n * value for n, value in zip(shares[player], self.values[player], strict=True))
            for player in self.players
        }
        got = ", ".join(f"the {player} player gets {points[player]} points" for player in self.players)
        won = [player for player in self.players if 2 * points[player] >= TOTAL]
        rewards = {player: points[player] / TOTAL for player in self.players}
        return self._end(f"The {self.player} player accepts: {got}.", rewards, won)

    def sample_action(self) -> str:
        if self.offer and self.action_rng.random() < _ACCEPT_AT_RANDOM:
            return box("accept")
        return box(f"offer {' '.join(str(self.action_rng.randint(0, count)) for count in self.counts)}")


@cache
def _valuations(counts: Bundle) -> list[Bundle]:
    """All values of the items with which they are worth `TOTAL` together."""
    return [
        (book, hat, ball)
        for book, hat, ball in product(range(TOTAL + 1), repeat=3)
        if book * counts[0] + hat * counts[1] + ball * counts[2] == TOTAL
    ]


def _rest(counts: Bundle, taken: Bundle) -> Bundle:
    books, hats, balls = (count - each for count, each in zip(counts, taken, strict=True))
    return books, hats, balls


def _listed(numbers: Bundle) -> str:
    return ", ".join(f"{n} {item}{'s' * (n != 1)}" for n, item in zip(numbers, ITEMS, strict=True))
