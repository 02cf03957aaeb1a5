"""`TurnEnv`: the base to write an environment on.

It keeps the promises of `Env` that are the same for every environment: it seeds, counts turns, truncates at the
turn limit, refuses a step after the end, and sees to it that the last step says whether the task was a success.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from gem.checks import check_int
from gem.core import Env, Info, Observation, Step, check_step
from gem.errors import ConfigError, did_you_mean

FORMAT_ERROR_REWARD = -0.1
"""What GEM's games give for a reply in which no action can be found."""


class TurnEnv(Env):
    r"""An environment that is played in turns: write `_reset` and `_step`, and leave the rest to this class.

    ```python
    class Coin(TurnEnv):
        '''Call a coin. One turn; a malformed call costs 0.1 and loses.'''

        def _reset(self, options):
            self.side = self.rng.choice(["heads", "tails"])
            return "I toss a coin. Answer with \\boxed{heads} or \\boxed{tails}."

        def _step(self, action):
            call = gem.parsing.boxed(action)
            if call not in ("heads", "tails"):
                return self.malformed("I found no call in your reply.")
            return Step.final(f"It is {self.side}.", float(call == self.side), success=call == self.side)

        def sample_action(self):
            return f"\\boxed{{{self.action_rng.choice(['heads', 'tails'])}}}"
    ```

    Args:
        max_turns: actions in an episode before it is truncated; None for no limit.
    """

    reset_options: ClassVar[tuple[str, ...]] = ()
    """The names that `reset(options=…)` takes; another is refused, so that a slip is not a wish unheard."""

    turn: int
    """How many actions the episode has had, the one being carried out among them; 0 after a reset."""

    def __init__(self, *, max_turns: int | None = None) -> None:
        self.max_turns = None if max_turns is None else check_int("max_turns", max_turns, 1)
        self.turn = 0
        self._over: bool | None = None

    @abstractmethod
    def _reset(self, options: Mapping[str, Any]) -> Observation:
        """Set up a new episode from `self.rng`, and return what the agent sees first.

        Args:
            options: what `reset` was given, under names from `reset_options`; else empty.
        """

    @abstractmethod
    def _step(self, action: str) -> Step:
        """Carry out one reply; `self.turn` has already counted it (the first action is turn 1).

        Return `Step.ongoing(…)` even on the last turn: the limit is applied afterwards. Where the last turn has a
        reward or words of its own, ask `self.last_turn` and return `Step.cut_off(…)`.
        """

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        if options:
            self._check_options(options)
        super().reset(seed=seed)
        self.turn = 0
        # An episode whose `_reset` raises has not begun.
        self._over = None
        observation = self._reset(options or {})
        self._over = False
        return observation, {}

    def step(self, action: str) -> Step:
        check_step(self, self._over, action)
        self.turn += 1
        step = self._step(action)
        if step.terminated or step.truncated:
            self._over = True
        elif self.last_turn:
            self._over = True
            return step._replace(truncated=True, info={**step.info, "success": False})
        return step

    def _check_options(self, options: Mapping[str, Any]) -> None:
        takes = ", ".join(self.reset_options) or "none"
        if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
            raise ConfigError(f"options are a mapping of names to values, not {options!r}; there are: {takes}")
        for name in options:
            if name not in self.reset_options:
                near = did_you_mean(str(name), self.reset_options)
                raise ConfigError(f"{type(self).__name__}: reset takes no option {name!r}.{near} It takes: {takes}.")

    @property
    def last_turn(self) -> bool:
        """Whether the turn being played is the last that the limit allows."""
        return self.max_turns is not None and self.turn >= self.max_turns

    def malformed(self, observation: Observation, reward: float = FORMAT_ERROR_REWARD) -> Step:
        """The step for a reply in which no action can be found: the episode is lost, as in GEM's games."""
        return Step.final(observation, reward, success=False, malformed=True)
