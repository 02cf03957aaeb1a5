"""An env for the tests of every framework: `interop_envs:Talk`."""

from gem import Step, TurnEnv
from gem.tool import tool


class Talk(TurnEnv):
    """One to four turns; the reward depends on every character that was said, and so does whether the env fails."""

    def _reset(self, options):
        self.rounds = self.rng.randint(1, 4)
        return f"Say something in {self.rounds} rounds. ☃"

    def _step(self, action):
        total = sum(map(ord, action))
        if total % 13 == 0:
            raise OSError("the env is broken")
        reward = total % 11 / 10
        if self.turn == self.rounds:
            return Step.final("Done.", reward, success=reward > 0.5)
        return Step.ongoing(f"Round {self.turn} 日: go on.", reward=reward)

    def sample_action(self):
        return "yes"


class Broken(Talk):
    """Fails whatever is said."""

    def _step(self, action):
        raise OSError("the env is broken")


@tool
def add(a: int, b: int) -> str:
    """Adds two numbers.

    Args:
        a: a number.
        b: another one.
    """
    return str(a + b)
