"""Kuhn poker as mathematics: its information sets, its equilibria, and how far a pair of strategies is from one.

Nothing here plays or imports the game. A *strategy profile* is the probability of putting a chip in (to bet or to call)
at each of the 12 information sets: six of the first player, six of the second.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

from gem.errors import ConfigError

CARDS = "JQK"
"""The deck, from the lowest card to the highest."""


def information_set(card: str, actions: Sequence[str]) -> str:
    """The name of what a player knows: its card, and the actions so far: `"J"`, `"Q check bet"`."""
    return " ".join([card, *actions])


HISTORIES: tuple[tuple[str, ...], ...] = ((), ("check", "bet"), ("check",), ("bet",))
"""The actions after which a player chooses: the first player in the first two, the second in the others."""
INFORMATION_SETS = tuple(information_set(card, actions) for actions in HISTORIES for card in CARDS)
"""The names of all 12."""


def equilibrium(alpha: float) -> dict[str, float]:
    """The Nash equilibrium with a given chance of the first player's bluff with J; Kuhn (1950) has them all.

    Args:
        alpha: from 0 to 1/3.

    Raises:
        ConfigError: `alpha` is out of range.
    """
    if not 0 <= alpha <= 1 / 3:
        raise ConfigError(f"alpha is a number from 0 to 1/3, not {alpha!r}")
    return {
        "J": alpha,
        "Q": 0.0,
        "K": 3 * alpha,
        "J check bet": 0.0,
        "Q check bet": alpha + 1 / 3,
        "K check bet": 1.0,
        "J check": 1 / 3,
        "Q check": 0.0,
        "K check": 1.0,
        "J bet": 0.0,
        "Q bet": 1 / 3,
        "K bet": 1.0,
    }


def nash_conv(probabilities: Mapping[str, float]) -> float:
    """NashConv of a strategy profile, in chips: what both players together could gain by a best response to the other.

    It is 0 in an equilibrium and above 0 elsewhere; uniform play has 11/12. Exact: a best response chooses for each
    card among four pure strategies. As in Lanctot et al., A unified game-theoretic approach to multiagent reinforcement
    learning, 2017.

    Args:
        probabilities: the name of each information set (`INFORMATION_SETS`) → the probability, from 0 to 1, of betting
            or calling there.

    Raises:
        ConfigError: an information set is missing or unknown, or a value is no probability.
    """
    if set(probabilities) != set(INFORMATION_SETS):
        raise ConfigError(f"the information sets are {', '.join(INFORMATION_SETS)}, not {', '.join(probabilities)}")
    for name, chance in probabilities.items():
        if not 0 <= chance <= 1:
            raise ConfigError(f"the probability at {name!r} is a number from 0 to 1, not {chance!r}")
    # What the first gains is what the second loses, so the profile's own value cancels out.
    first = (_best(card, ("", " check bet"), probabilities, 1) for card in CARDS)
    second = (_best(card, (" check", " bet"), probabilities, -1) for card in CARDS)
    return max(0.0, math.fsum(first) + math.fsum(second))


def _best(card: str, own: tuple[str, str], probabilities: Mapping[str, float], sign: int) -> float:
    """The most that a player can expect with a card, times the card's chance; the second player's `sign` is -1."""
    values: list[float] = []
    for choices in product((0.0, 1.0), repeat=2):
        played = {**probabilities, **{card + name: choice for name, choice in zip(own, choices, strict=True)}}
        others = [other for other in CARDS if other != card]
        deals = [(card, other) if sign == 1 else (other, card) for other in others]
        values.append(math.fsum(sign * _value(*deal, played) for deal in deals) / 6)
    return max(values)


def _value(first: str, second: str, chance: Mapping[str, float]) -> float:
    """The chips that the first player can expect when these cards are dealt."""
    showdown = 1.0 if CARDS.index(first) > CARDS.index(second) else -1.0
    called = chance[f"{second} bet"]
    after_bet = called * 2 * showdown + (1 - called)
    call = chance[f"{first} check bet"]
    after_check_bet = call * 2 * showdown - (1 - call)
    bet = chance[f"{second} check"]
    after_check = bet * after_check_bet + (1 - bet) * showdown
    return chance[first] * after_bet + (1 - chance[first]) * after_check
