"""Games for several players, for the tests of tournaments."""

import time

import gem
from gem.answers import boxed
from gem.core import Observation, Step


class Stones(gem.TurnEnv):
    """The players take one to three of some stones in turn; who takes the last wins 1 from the others.

    What is not such a number takes one. `seats` are the players; "slow" replies wait a little, and the seed that
    `fails` raises.
    """

    def __init__(self, seats: int = 2, fails: bool = False, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.players = ("north", "south", "west")[:seats]
        self.fails = fails

    def _reset(self, options: object) -> Observation:
        self.left = self.rng.randint(6, 14)
        return f"Stones left: {self.left}."

    def reset(self, **kwargs):  # type: ignore[no-untyped-def]
        observation, info = super().reset(**kwargs)
        return observation, {**info, "player": self.players[0]}

    def _step(self, action: str) -> Step:
        if self.fails and self.left == 7:
            raise RuntimeError("the world ends at seven")
        said = boxed(action)
        self.left -= min(int(said) if said in ("1", "2", "3") else 1, self.left)
        mover = self.players[(self.turn - 1) % len(self.players)]
        if self.left:
            after = self.players[self.turn % len(self.players)]
            return Step.ongoing(f"Stones left: {self.left}.", 0.0, player=after, rewards={mover: 0.0})
        others = {each: -1.0 / (len(self.players) - 1) for each in self.players if each != mover}
        return Step.final("None are left.", 0.0, success=True, won=[mover], rewards={mover: 1.0, **others})

    def sample_action(self) -> str:
        return f"\\boxed{{{self.action_rng.randint(1, 3)}}}"

    def expert_action(self) -> str:
        return f"\\boxed{{{self.left % 4 or 1}}}"


class Insult(gem.TurnEnv):
    """The first player's only move loses, before the second is asked."""

    players = ("one", "two")

    def reset(self, **kwargs):  # type: ignore[no-untyped-def]
        observation, info = super().reset(**kwargs)
        return observation, {**info, "player": "one"}

    def _reset(self, options: object) -> Observation:
        return "Say anything."

    def _step(self, action: str) -> Step:
        return Step.final("That was it.", 0.0, success=True, won=["two"], rewards={"one": -1.0, "two": {"win": 1.0}})

    def sample_action(self) -> str:
        return "anything"


def ones(observation: str) -> str:
    """Always takes one."""
    return "\\boxed{1}"


def slowly(observation: str) -> str:
    """Takes two, after a while."""
    time.sleep(0.02)
    return "\\boxed{2}"
