"""Lamps: switch on a row of lamps, where each switch also works the neighbours."""

import re
from collections.abc import Mapping
from typing import Any

from gem import Step, TurnEnv
from gem.answers.parsing import boxed
from gem.checks import check_int

_SWITCH = re.compile(r"\s*([0-9]{1,3})\s*")


class Lamps(TurnEnv):
    r"""Switch on all lamps of a row; a switch turns its own lamp and both neighbours on or off.

    The first observation has the rules, and every one shows the row. An action is `\boxed{2}`.

    Rewards: 1 when all lamps are on. A reply without a number costs 0.1 and loses. The number of a lamp that does not
    exist uses up the turn.

    Args:
        lamps: how many, from 2 to 99.
        max_turns: replies in an episode.
    """

    def __init__(self, lamps: int = 5, max_turns: int | None = 10) -> None:
        super().__init__(max_turns=max_turns)
        self.lamps = check_int("lamps", lamps, 2, 99)
        self.to_press: set[int] = set()
        """The switches that, pressed once each in any order, switch on all lamps."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.to_press = set(self.rng.sample(range(1, self.lamps + 1), self.rng.randint(1, self.lamps)))
        if all(self._row()):  # a few sets of switches change nothing
            self.to_press = {1}
        return (
            f"There are {self.lamps} lamps in a row, numbered from 1. The switch of a lamp turns that lamp and its "
            f"neighbours on if they are off, and off if they are on. Switch on all within {self.max_turns} turns.\n"
            "Answer with the number of a switch inside \\boxed{}, for example \\boxed{1}; only the last box counts. A "
            f"reply without a number loses.\n{self._shown()}"
        )

    def _step(self, action: str) -> Step:
        match = _SWITCH.fullmatch(boxed(action) or "")
        if match is None:
            return self.malformed("I found no number inside \\boxed{}. You lose.")
        number = int(match[1])
        if not 1 <= number <= self.lamps:
            return Step.ongoing(f"There is no switch {number}.\n{self._shown()}")
        self.to_press ^= {number}
        if all(self._row()):
            return Step.final("All lamps are on: you win.", 1.0, success=True)
        return Step.ongoing(self._shown())

    def _row(self) -> list[bool]:
        """Which lamps are on: those that an even number of the switches that are still to be pressed works."""
        return [len(self.to_press & {lamp - 1, lamp, lamp + 1}) % 2 == 0 for lamp in range(1, self.lamps + 1)]

    def _shown(self) -> str:
        return " ".join(f"{number}:{'on' if on else 'off'}" for number, on in enumerate(self._row(), 1))

    def sample_action(self) -> str:
        return "\\boxed{" + str(self.action_rng.randint(1, self.lamps)) + "}"

    def expert_action(self) -> str:
        """One of the switches that are still to be pressed."""
        return "\\boxed{" + str(min(self.to_press)) + "}"
