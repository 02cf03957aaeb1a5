"""`TurnEnv`: the base class for environments.

It implements what is the same for every environment: it seeds, counts turns, truncates at the turn limit, refuses a
step after the end, and puts `success` into the info of the last step.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from gem.checks import check_int
from gem.core import Env, Info, Observation, Step, check_step, cut_off_info
from gem.errors import ConfigError, did_you_mean

FORMAT_ERROR_REWARD = -0.1
"""The reward of a reply without an action in the games of gem-llm."""


class TurnEnv(Env):
    r"""An environment that is played in turns: subclasses define `_reset`, `_step` and `sample_action`.

    ```python
    class Coin(TurnEnv):
        '''Call a coin. One turn; a malformed call costs 0.1 and loses.'''

        def _reset(self, options):
            self.side = self.rng.choice(["heads", "tails"])
            return "I toss a coin. Answer with \\boxed{heads} or \\boxed{tails}."

        def _step(self, action):
            call = gem.answers.boxed(action)
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
    """The names that `reset(options=…)` accepts; others are refused."""

    system: str = ""
    """The system message of the conversation; mostly there is none."""

    turn: int
    """Actions in this episode, the current one included; 0 after a reset."""

    def __init__(self, *, max_turns: int | None = None) -> None:
        self.max_turns = None if max_turns is None else check_int("max_turns", max_turns, 1)
        self.turn = 0
        self._over: bool | None = None

    @abstractmethod
    def _reset(self, options: Mapping[str, Any]) -> Observation:
        """Set up a new episode from `self.rng`, and return the first observation; `options` are those of `reset`."""

    @abstractmethod
    def _step(self, action: str) -> Step:
        """Carry out one reply; `self.turn` has already counted it (the first action is turn 1).

        Return `Step.ongoing(…)` even on the last turn: the limit is applied afterwards. If the last turn has a reward
        or text of its own, check `self.last_turn` and return `Step.cut_off(…)`.
        """

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        if options:
            self._check_options(options)
        super().reset(seed=seed)
        self.turn = 0
        # If `_reset` raises, no episode has begun.
        self._over = None
        observation = self._reset(options or {})
        self._over = False
        return observation, {"system": self.system} if self.system else {}

    def step(self, action: str) -> Step:
        check_step(self, self._over, action)
        self.turn += 1
        step = self._step(action)
        if step.terminated or step.truncated:
            self._over = True
        elif self.last_turn:
            self._over = True
            return step._replace(truncated=True, info=cut_off_info(self, step.info))
        return step

    def _check_options(self, options: Mapping[str, Any]) -> None:
        if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
            raise ConfigError(f"options must be a mapping of names to values, not {options!r}")
        for name in options.keys() - set(self.reset_options):
            near, takes = did_you_mean(str(name), self.reset_options), ", ".join(self.reset_options) or "none"
            raise ConfigError(f"{type(self).__name__}: reset takes no option {name!r}.{near} It takes: {takes}.")

    @property
    def last_turn(self) -> bool:
        """True on the last turn that the limit allows."""
        return self.max_turns is not None and self.turn >= self.max_turns

    def malformed(self, observation: Observation, reward: float = FORMAT_ERROR_REWARD) -> Step:
        """The last step of an episode that a reply without an action loses, as in the games of gem-llm."""
        return Step.final(observation, reward, success=False, malformed=True)
