"""Environments and wrappers for the tests of the core."""

from gem.answers.parsing import boxed
from gem.core import Env, Step, Wrapper
from gem.turn_env import TurnEnv


class Sum(TurnEnv):
    r"""Say the sum of all numbers shown so far: `\boxed{12}`. A wrong sum is reported, and the game continues.

    The episode is won after `rounds` right sums. Each right sum earns 1; no box loses and costs 0.1.
    """

    def __init__(self, rounds: int = 3, largest: int = 9, max_turns: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        self.rounds, self.largest = rounds, largest
        self.total, self.right = 0, 0

    def _reset(self, options):
        self.total, self.right = 0, 0
        return self._show()

    def _step(self, action):
        answer = boxed(action)
        if answer is None:
            return self.malformed("There is no box.")
        if answer != str(self.total):
            return Step.ongoing("Wrong.")
        self.right += 1
        if self.right == self.rounds:
            return Step.final("Done.", 1.0, success=True)
        return Step.ongoing(self._show(), 1.0)

    def _show(self):
        number = self.rng.randint(1, self.largest)
        self.total += number
        return f"The next number is {number}."

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(1, self.largest * self.rounds)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.total}}}"


class Named(Sum):
    """Takes arguments that functions of GEM take too."""

    def __init__(self, id: str, ids: str, entry_point: str, spec: str) -> None:
        super().__init__()
        self.taken = id, ids, entry_point, spec


class Closable(Sum):
    """A `Sum` that tells whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


class Fragile(Sum):
    """A `Sum` that breaks: at its reset with an odd seed, and, for good, at the word "break"."""

    broken = False

    def _reset(self, options):
        if self.broken or self._seed % 2:
            raise OSError("the disk is full")
        return super()._reset(options)

    def _step(self, action):
        if action == "break":
            self.broken = True
            raise ZeroDivisionError("division by zero")
        return super()._step(action)


class NoExpert(Sum):
    """A `Sum` without an expert."""

    def expert_action(self):
        return None


class Counted(Wrapper):
    """Numbers the observations, and so has a state of its own."""

    def __init__(self, env):
        super().__init__(env)
        self.seen = 0

    def reset(self, *, seed=None, options=None):
        self.seen = 1
        observation, info = super().reset(seed=seed, options=options)
        return f"{self.seen}: {observation}", info

    def step(self, action):
        self.seen += 1
        step = super().step(action)
        return step._replace(observation=f"{self.seen}: {step.observation}")


class Loud(Wrapper):
    """Shouts."""

    def step(self, action):
        step = super().step(action)
        return step._replace(observation=step.observation.upper())


class Half(Env):
    """An env that defines a part of what it has to."""

    def reset(self, *, seed=None, options=None): ...


class Needs(Sum):
    """An env on rows of yours."""

    def __init__(self, data: str) -> None:
        super().__init__()
        self.data = data
