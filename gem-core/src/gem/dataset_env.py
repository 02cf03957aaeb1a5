"""Question, answer, grade: the bases of environments that ask once and judge the reply.

`QuestionEnv` is for questions that are made up, `DatasetEnv` for questions that are rows of a table.
"""

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
    r"""One question, one reply, one grade: write `_reset` (the question), `_read` and `_grade`.

    `Answer` is what `_read` makes of a reply: a number, a program, a text.

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
        format_error_reward: what a reply earns in which no answer can be found.
    """

    answer_form = "answer in the form that the question asks for"
    """What a reply must hold, without an article: the message to one that does not is "Your reply has no …"."""

    def __init__(self, *, format_error_reward: float = FORMAT_ERROR_REWARD) -> None:
        super().__init__(max_turns=1)
        self.format_error_reward = format_error_reward

    @abstractmethod
    def _read(self, reply: str) -> Answer | None:
        """The answer in a reply, or None where there is none. Never raises, whatever a model says."""

    @abstractmethod
    def _grade(self, answer: Answer) -> Step:
        """The last step of the episode: `Step.final(…)`. A fault of the grader raises; it is not a wrong answer."""

    def _step(self, action: str) -> Step:
        answer = self._read(action)
        if answer is None:
            return self.malformed(f"Your reply has no {self.answer_form}.", self.format_error_reward)
        return self._grade(answer)


class DatasetEnv(QuestionEnv[Answer], Generic[Row, Answer]):
    """A `QuestionEnv` whose questions are rows of a table: write `rows`, `_question`, `_read` and `_grade`.

    Each episode asks about one row, drawn evenly by the env's own generator. `reset(options={"index": 3})` chooses
    the row, to go through the whole table once.
    """

    reset_options = ("index",)

    index: int = 0
    """The number of the row that is being asked about."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The table, always the same for the same arguments.

        Keep it in a cached function of the module and not in the env: a thousand envs then share one table, and a
        snapshot holds the row's number alone.
        """

    @abstractmethod
    def _question(self, row: Row) -> Observation:
        """What the agent sees of a row."""

    @property
    def row(self) -> Row:
        """The row that is being asked about."""
        return self.rows[self.index]

    def _reset(self, options: Mapping[str, Any]) -> Observation:
        rows = self.rows
        if "index" in options:
            index = operator.index(options["index"])
            if not 0 <= index < len(rows):
                raise ConfigError(f"there is no row {index}; this env has rows 0 to {len(rows) - 1}")
            self.index = index
        else:
            self.index = self.rng.randrange(len(rows))
        return self._question(self.row)
