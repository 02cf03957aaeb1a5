"""The pool of self-play: the earlier selves that a learner meets, by the step after which each joined.

Which of them are in it follows from the step alone. What is kept besides is how games against them ended.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Choice = Literal["uniform", "newest", "prioritised"]

POWER = 2
"""Of the chance not to win, by which the prioritised choice weighs: `f_hard` of the source below."""
KEPT = 0.95
"""Share of the results that counts on after each step: they are of a learner that is no more."""


class Pool:
    """The earlier selves of a learner, the newest last, and its results against them.

    The choice is uniform, the newest alone, or prioritised: in proportion to ``(1 - p) ** 2``, where ``p`` is the share
    of games that the learner has won against a member (of recent games, and as if one game had been won and one lost
    before). Source: Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning",
    Nature 575 (2019), Methods, "Prioritized fictitious self-play".

    Args:
        choice: which of them are met.
        every: steps between two that join; the model before training is the first.
        size: how many there are at most; the oldest leave.
    """

    def __init__(self, choice: Choice, *, every: int, size: int) -> None:
        self._choice, self._every, self._size = choice, every, size
        self._results: dict[int, tuple[float, float]] = {}
        """Games against each member, and how many of them the learner won."""

    def members(self, step: int) -> list[int]:
        """The members after so many steps, each by the steps before it joined."""
        return [*range(0, step + 1, self._every)][-self._size :]

    def draw(self, step: int, count: int, seed: int) -> list[int]:
        """Different members, at most `count`, in order."""
        left = self.members(step)
        if self._choice == "newest":
            return left[-1:]
        rng, drawn = random.Random(seed), list[int]()
        while left and len(drawn) < count:
            (chosen,) = rng.choices(left, [self._weight(member) for member in left])
            left.remove(chosen)
            drawn.append(chosen)
        return sorted(drawn)

    def win_rate(self, member: int) -> float:
        """The share of games that the learner has won against a member; 0.5 without any."""
        games, won = self._results.get(member, (0.0, 0.0))
        return (won + 1) / (games + 2)

    def _weight(self, member: int) -> float:
        return (1 - self.win_rate(member)) ** POWER if self._choice == "prioritised" else 1.0

    def add(self, step: int, results: Mapping[int, Sequence[bool]]) -> None:
        """Add the results of a step by member: for each game, whether the learner has won."""
        for member in self.members(step):
            games, won = self._results.get(member, (0.0, 0.0))
            new = results.get(member, ())
            self._results[member] = games * KEPT + len(new), won * KEPT + sum(new)
        for gone in self._results.keys() - set(self.members(step)):
            del self._results[gone]

    def metrics(self) -> dict[str, float]:
        """The number of members that have been met, and the win rate against each of them."""
        met = [member for member, (games, _) in self._results.items() if games]
        return {"opponents": len(met), **{f"won/step-{member}": self.win_rate(member) for member in met}}

    def state(self) -> list[Any]:
        """The results, as JSON."""
        return [[member, games, won] for member, (games, won) in self._results.items()]

    def restore(self, state: Sequence[Any]) -> None:
        """Take the results of `state`."""
        self._results = {int(member): (float(games), float(won)) for member, games, won in state}
