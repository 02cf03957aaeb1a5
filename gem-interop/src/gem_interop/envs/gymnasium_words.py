"""Texts for what Gymnasium's own environments leave to pictures: rules, and names of actions and of numbers."""

from typing import NamedTuple


class Words(NamedTuple):
    """`rules` for the agent, and names of the `actions` in their order and of the `numbers` of an observation.

    `success_at` is the return that is a success, where Gymnasium registers none.
    """

    rules: str
    actions: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    success_at: float | None = None


_LAKE = Words(
    "Walk over a frozen lake from the start S to the goal G, over frozen tiles F. A hole H ends the episode. The ice "
    "is slippery, unless it was switched off: a step may go to the left or the right of where you want. The square "
    "brackets show where you are.",
    ("left", "down", "right", "up"),
    ("tile",),
)
_CLIFF = Words(
    "Walk from the lower left corner to the target T. A step costs 1; a step on the cliff C costs 100 and leads back "
    "to the start. x shows where you are.",
    ("up", "right", "down", "left"),
    ("tile",),
    success_at=-99,
)
_CART = Words(
    "A pole stands on a cart. Push the cart to the left or to the right, at every step, so that the pole stays up. "
    "The episode ends when its angle is beyond 0.2095 radians or the cart beyond 2.4. A step earns 1.",
    ("left", "right"),
    ("cart position", "cart velocity", "pole angle", "pole angular velocity"),
)

WORDS = {
    "FrozenLake": _LAKE,
    "FrozenLake8x8": _LAKE,
    "CliffWalking": _CLIFF,
    "CliffWalkingSlippery": _CLIFF._replace(
        rules=f"{_CLIFF.rules} It is slippery: a step may go to the left or the right of where you want."
    ),
    "Taxi": Words(
        "Drive the taxi to the passenger, pick the passenger up, drive to the destination, and drop the passenger off "
        "there. A step costs 1, a pick-up or drop-off at a wrong place 10; the right drop-off earns 20. Walls are |. "
        "The taxi is in square brackets, with _ while the passenger is in it. The passenger waits at the letter in "
        "(round brackets), and the destination is the letter in {braces}.",
        ("south", "north", "east", "west", "pickup", "dropoff"),
        ("state",),
    ),
    "Blackjack": Words(
        "Blackjack against the dealer, whose first card you see: come nearer to 21 than the dealer, and not over it. "
        "Pictures count 10; an ace counts 11 where that is not over 21 (a usable ace), or else 1. The dealer draws up "
        "to 17. A win earns 1, a loss costs 1.",
        ("stick", "hit"),
        ("your sum", "the dealer's card", "usable ace"),
    ),
    "CartPole": _CART,
    "MountainCar": Words(
        "A car is in a valley and too weak to drive straight up the hill on its right: swing back and forth until its "
        "position is at least 0.5. A step costs 1.",
        ("left", "none", "right"),
        ("position", "velocity"),
    ),
    "Acrobot": Words(
        "Two links hang in a chain from a fixed joint. Apply torque to the joint between them until the free end is "
        "higher than one link's length above the fixed joint. A step costs 1. The angle 0 is downwards, and the second "
        "is relative to the first link.",
        ("negative", "none", "positive"),
        (
            *("cosine of the first angle", "sine of the first angle"),
            *("cosine of the second angle", "sine of the second angle"),
            *("first angular velocity", "second angular velocity"),
        ),
    ),
}
"""Texts by the name without version and namespace."""
