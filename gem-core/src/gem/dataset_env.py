"""Base classes for one question per episode: `QuestionEnv` for generated ones, `DatasetEnv` for rows of a table."""

import operator
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from gem.core import Observation, Step
from gem.errors import ConfigError
from gem.turn_env import FORMAT_ERROR_REWARD, TurnEnv

Answer = TypeVar("Answer")
Row = TypeVar("Row")


class QuestionEnv(TurnEnv, Generic[Answer]):
    r"""One question and one reply per episode: subclasses define `_reset` (the question), `_read` and `_grade`.

    `Answer` is the type that `_read` returns: a number, a program, a text.

    ```python
    class Capital(QuestionEnv[str]):
        '''Name a capital: 1 for the right one, 0 for another; a reply without a box costs 0.1.'''

        answer_form = "name inside \\boxed{}"

        def _reset(self, options):
            self.country = self.rng.choice(sorted(CAPITALS))
            return f"What is the capital of {self.country}? Answer with a {self.answer_form}."

        def _read(self, reply):
            return gem.parsing.boxed(reply)

        def _grade(self, answer):
            success = answer == CAPITALS[self.country]
            return Step.final("Right." if success else "Wrong.", float(success), success=success)

        def sample_action(self):
            return f"\\boxed{{{self.action_rng.choice(sorted(CAPITALS.values()))}}}"
    ```

    Args:
        format_error_reward: the reward of a reply without an answer.
    """

    answer_form = "answer in the form that the question asks for"
    """What a reply must contain, without an article: otherwise the message is "Your reply has no …"."""

    def __init__(self, *, format_error_reward: float = FORMAT_ERROR_REWARD) -> None:
        super().__init__(max_turns=1)
        self.format_error_reward = format_error_reward

    @abstractmethod
    def _read(self, reply: str) -> Answer | None:
        """The answer in a reply, or None. Must not raise for any reply."""

    @abstractmethod
    def _grade(self, answer: Answer) -> Step:
        """The last step of the episode: `Step.final(…)`. If the grader fails, raise: that is not a wrong answer."""

    def _step(self, action: str) -> Step:
        answer = self._read(action)
        if answer is None:
            return self.malformed(f"Your reply has no {self.answer_form}.", self.format_error_reward)
        return self._grade(answer)


class DatasetEnv(QuestionEnv[Answer], Generic[Row, Answer]):
    """A `QuestionEnv` whose questions are rows of a table: subclasses define `rows`, `_question`, `_read` and `_grade`.

    Each episode draws one row uniformly from `self.rng`; `reset(options={"index": 3})` chooses it instead.
    """

    reset_options = ("index",)

    index: int = 0
    """The index of the current row."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The table; the same for the same arguments of the env.

        Keep it in a cached function of the module, so that all envs share it and snapshots hold only the index.
        """

    @abstractmethod
    def _question(self, row: Row) -> Observation:
        """The observation for a row."""

    @property
    def row(self) -> Row:
        """The current row."""
        return self.rows[self.index]

    def _reset(self, options: Mapping[str, Any]) -> Observation:
        rows = self.rows
        if "index" in options:
            index = operator.index(options["index"])
            if not 0 <= index < len(rows):
                raise ConfigError(f"row {index} does not exist; this env has rows 0 to {len(rows) - 1}")
            self.index = index
        else:
            self.index = self.rng.randrange(len(rows))
        return self._question(self.row)
