"""An env with a tool that its expert calls, for tests: `sums:Sums`."""

from gem import Step, TurnEnv
from gem.tool import ToolCall, tool


class Sums(TurnEnv):
    """The sum of two numbers, which a tool knows; three answers are allowed."""

    @tool
    def add(self, a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    def _reset(self, options):
        self.pair = [self.rng.randint(1, 8), self.rng.randint(1, 8)]
        return f"What is {self.pair[0]} + {self.pair[1]}?"

    def _step(self, action):
        if action.strip() == str(sum(self.pair)):
            return Step.final("Right.", 1.0, success=True)
        return Step.ongoing("No. Again!") if self.turn < 3 else Step.final("No.", 0.0, success=False)

    def sample_action(self):
        return str(self.action_rng.randint(2, 16))

    def expert_call(self, results):
        return None if results else ToolCall("add", {"a": self.pair[0], "b": self.pair[1]})

    def expert_action(self):
        return str(sum(self.pair))
