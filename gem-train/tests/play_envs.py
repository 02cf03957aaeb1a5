"""Environments for the tests of play. Vectors import this module by its name."""

from gem import Step, TurnEnv, seeding


class Walk(TurnEnv):
    """Ends after 1 to `longest` turns, by its seed; every `fails`-th seed raises in its last turn."""

    def __init__(self, longest: int = 4, fails: int = 0, max_turns: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        self.longest, self.fails = longest, fails

    def _reset(self, options: object) -> str:
        self.length = self.rng.randint(1, self.longest)
        return "go"

    def _step(self, action: str) -> Step:
        if self.turn < self.length:
            return Step.ongoing("on", 1.0)
        if self.fails and seeding.derive(self._seed or 0, "fails") % self.fails == 0:
            raise OSError("the server is down")
        return Step.final("end", 1.0, success=self.length > 1)

    def sample_action(self) -> str:
        return "go"


class Long(Walk):
    """Takes ten times as many turns."""

    def _reset(self, options: object) -> str:
        super()._reset(options)
        self.length *= 10
        return "go"
