"""Base classes for questions: `QuestionEnv` for generated ones, `DatasetEnv` for rows of a data set."""

import operator
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

from gem.checks import check_int
from gem.core import Env, Observation, Step
from gem.data.place import is_missing
from gem.data.source import Data, DataSource, source_of
from gem.data.table import Table, open_table
from gem.errors import ConfigError, Fault
from gem.snapshots import ConstructorCall
from gem.turn_env import FORMAT_ERROR_REWARD, TurnEnv

Answer = TypeVar("Answer")
Row = TypeVar("Row")


class QuestionEnv(TurnEnv, Generic[Answer]):
    r"""One question per episode: subclasses define `_reset` (the question), `_read` and `_grade`.

    The first right answer ends the episode, and so does the last of `max_attempts`, with its grade. An attempt before
    that earns 0 (without an answer `format_error_reward`), and the observation after it is `_feedback`. `Answer` is the
    type that `_read` returns.

    ```python
    class Capital(QuestionEnv[str]):
        '''Name a capital: 1 for the right one, 0 for another; a reply without a box costs 0.1.'''

        answer_form = "name inside \\boxed{}"

        def _reset(self, options):
            self.country = self.rng.choice(sorted(CAPITALS))
            return f"What is the capital of {self.country}? Answer with a {self.answer_form}."

        def _read(self, reply):
            return gem.answers.boxed(reply)

        def _grade(self, answer):
            success = answer == CAPITALS[self.country]
            return Step.final("Right." if success else "Wrong.", float(success), success=success)

        def sample_action(self):
            return f"\\boxed{{{self.action_rng.choice(sorted(CAPITALS.values()))}}}"
    ```

    Args:
        format_error_reward: the reward of a reply without an answer.
        max_attempts: how many replies the agent may give.
    """

    answer_form = "answer in the form that the question asks for"
    """The parts that a reply must have, without an article, for the message "Your reply has no …"."""

    def __init__(self, *, format_error_reward: float = FORMAT_ERROR_REWARD, max_attempts: int = 1) -> None:
        super().__init__(max_turns=check_int("max_attempts", max_attempts, 1))
        self.format_error_reward = format_error_reward

    @abstractmethod
    def _read(self, reply: str) -> Answer | None:
        """The answer in a reply, or None. Must not raise for any reply."""

    @abstractmethod
    def _grade(self, answer: Answer) -> Step:
        """The last step of the episode: `Step.final(…)`. If the grader fails, raise: that is not a wrong answer."""

    def _feedback(self, step: Step) -> str:
        """The text after `step`, the grade of a wrong answer, for an agent that may try again; by default its
        observation. It must not give the right answer away."""
        return str(step.observation)

    def _step(self, action: str) -> Step:
        answer = self._read(action)
        if answer is None:
            step = self.malformed(f"Your reply has no {self.answer_form}.", self.format_error_reward)
        else:
            step = self._grade(answer)
        if self.last_turn or step.info["success"]:
            return step
        assert self.max_turns is not None
        left = self.max_turns - self.turn
        info = {name: value for name, value in step.info.items() if name != "success"}
        text = f"{self._feedback(step)}\nTry again: you have {left} attempt{'s' if left > 1 else ''} left."
        return Step.ongoing(text, self.format_error_reward if answer is None else 0.0, **info)


class DatasetEnv(QuestionEnv[Answer], Generic[Row, Answer]):
    r"""A `QuestionEnv` on the rows of a data set: subclasses define `_question`, `_read`, `_grade` and `_gold`.

    Each episode draws one row uniformly from `self.rng`; `reset(options={"index": 3})` chooses it instead.

    ```python
    class Capitals(DatasetEnv[Mapping[str, Any], str]):
        '''Answer with a name in a box: 1 for the right one, otherwise 0.'''

        columns = {"question": "problem", "answer": "answer"}
        default_instruction = "Give the name inside \\boxed{}."

        def _question(self, row):
            return row["question"]

        def _read(self, reply):
            return gem.answers.boxed(reply)

        def _grade(self, answer):
            success = answer == self.row["answer"]
            return Step.final("Right." if success else "Wrong.", float(success), success=success)

        def _gold(self, row):
            return f"\\boxed{{{row['answer']}}}"

        def sample_action(self):
            return self._gold(self._row(self.action_rng.choice(self.rows)))
    ```

    Args:
        data: where the rows come from: see `gem.data.DataSource`; or rows, or a function that returns them.
        instruction: how to answer, at the end of the question: False for nothing, True for the env's own words, or a
            text.
        max_attempts: as of `QuestionEnv`.
        format_error_reward: as of `QuestionEnv`.
    """

    reset_options = ("index",)
    columns: ClassVar[Mapping[str, str | tuple[str, ...]]] = {}
    """Role → column: the columns that a row must have, and their names where `data` does not give others; of several
    names the first that there is. In a row they are called by their roles."""
    look_at: ClassVar[int] = 200
    """The most rows that are looked at when a table is opened, from all over it."""
    default_instruction: ClassVar[str] = ""
    """The instruction on how to answer."""
    _unsaved = QuestionEnv._unsaved | {"data", "_rows"}

    index: int = 0
    """The index of the current row."""

    def __init__(
        self,
        data: Data | None = None,
        *,
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = FORMAT_ERROR_REWARD,
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, max_attempts=max_attempts)
        self.instruction = self.default_instruction if instruction is True else instruction or ""
        """The text after the question."""
        self.data = data if data is None else source_of(data) or data
        self._rows: Sequence[Any] | None = None

    @property
    def source(self) -> DataSource | None:
        """The place of the rows; None for rows and functions that were given, and for a table of the class."""
        return self.data if isinstance(self.data, DataSource) else None

    @property
    def rows(self) -> Sequence[Any]:
        """The rows, the same for the same arguments of the env; see `gem.data.open_table`. Override it for a table of
        the class itself: keep that in a cached function of the module, so that all envs share it."""
        if self._rows is None:
            if self.data is None:
                raise ConfigError(f"{type(self).__name__} needs data, such as data='rows.jsonl'")
            table = open_table(self.data, self.columns)
            self._look(table)
            self._rows = table
        return self._rows

    def _look(self, table: Table) -> None:
        """Look at rows, once per table and kind of env, so that what cannot be asked is known before anything is.

        If fewer than a tenth of them cannot be asked, only those that come up are faults, each for its episode.
        """
        if type(self) in table.looked_at:
            return
        looked = range(0, len(table), max(1, -(-len(table) // self.look_at)))
        errors: list[ConfigError | Fault] = []
        for index in looked:
            try:
                self._row_at(table, index)
            except (ConfigError, Fault) as error:
                errors.append(error)
        if 10 * len(errors) >= len(looked):
            raise _several(errors, len(looked))
        table.looked_at.add(type(self))

    def _row_at(self, rows: Sequence[Any], index: int) -> Row:
        """A row as the other methods take it; errors about it say where it is."""
        values = rows[index]
        try:
            return self._row(values)
        except (ConfigError, Fault) as error:
            place = rows.line(index) if isinstance(rows, Table) else f"row {index}"
            raise (ConfigError if isinstance(error, ConfigError) else Fault)(f"{place}: {error}") from error

    def _row(self, values: Any) -> Row:
        """A row as the other methods take it. The default returns `values`, a mapping of roles and columns."""
        return values

    @abstractmethod
    def _question(self, row: Row) -> Observation:
        """The observation for a row, without the instruction."""

    def _gold(self, row: Row) -> str | None:
        """The reply with the right answer of a row, or None if it is not known."""
        return None

    @property
    def row(self) -> Row:
        """The current row."""
        return self._row_at(self.rows, self.index)

    def question(self, index: int) -> Observation:
        """The question of a row, without the instruction."""
        return self._question(self._row_at(self.rows, index))

    def expert_action(self) -> str | None:
        return self._gold(self.row)

    def _reset(self, options: Mapping[str, Any]) -> Observation:
        rows = self.rows
        if "index" in options:
            index = operator.index(options["index"])
            if not 0 <= index < len(rows):
                raise ConfigError(f"row {index} does not exist; this env has rows 0 to {len(rows) - 1}")
            self.index = index
        else:
            self.index = self.rng.randrange(len(rows))
        return self._instructed(self._question(self.row))

    def _compared_call(self) -> ConstructorCall:
        # Rows that were given would make snapshots as large as they are.
        args, kwargs = super()._compared_call()
        given = self.data
        if isinstance(given, Sequence):
            rows = f"{len(cast('Sequence[Any]', given))} rows"
            args = tuple(rows if each is given else each for each in args)
            kwargs = {name: rows if value is given else value for name, value in kwargs.items()}
        return args, kwargs

    def _instructed(self, question: Observation) -> Observation:
        if not self.instruction:
            return question
        if isinstance(question, str):
            return f"{question}\n\n{self.instruction}"
        return [*question, {"type": "text", "text": self.instruction}]


def _several(errors: Sequence[ConfigError | Fault], looked: int) -> ConfigError | Fault:
    """The error about rows that cannot be asked, with the first of them."""
    if looked == 1:
        return errors[0]
    listed = "\n".join(f"- {error}" for error in errors[:5])
    kind = ConfigError if isinstance(errors[0], ConfigError) else Fault
    return kind(f"{len(errors)} of {looked} rows that were looked at cannot be asked:\n{listed}")


def to_download(env: Env) -> DataSource | None:
    """The source of the rows that `env` asks, if they are not on this machine; None for other envs."""
    bare: Any = env.unwrapped
    source: DataSource | None = bare.source if isinstance(bare, DatasetEnv) else None
    return source if source and is_missing(source) else None
