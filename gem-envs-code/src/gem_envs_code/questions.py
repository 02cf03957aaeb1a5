"""Programming tasks of data sets: `code:CodeContest`, `code:Taco8k`, … or tasks of your own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import gem_sandbox
from gem.answers.parsing import fenced_code
from gem.checks import check_int, finite
from gem.core import Observation, Step
from gem.data import Data
from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError, Fault
from gem.packs.importing import import_path
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_code.formats.table import task_of
from gem_envs_code.grader import Grader, block
from gem_envs_code.imports import needed_modules
from gem_envs_code.instructions import instruction_for
from gem_envs_code.livecodebench import as_program, like_livecodebench
from gem_envs_code.tasks import AssertTest, Task
from gem_sandbox import Limits

_BROUGHT = frozenset(["pytest"])
"""Modules that tests bring along."""
_WORDS = ("0", "1", "2", "3", "5", "8", "10", "YES", "NO", "none")


class CodeQuestion(DatasetEnv[Task, str]):
    """Solve a programming task of a data set: 1 for a program that passes every test, otherwise 0.

    The question is the problem as the data set states it, then how to answer; an action is a reply whose last fenced
    code block is the whole program. The program runs on each test in the sandbox (`gem_sandbox`, shared by all envs of
    a process): on standard input, by calls of its functions, or under assertions. What is expected never enters a
    process in which the program runs. The last observation says which test failed first, and the kind of the failure;
    it holds nothing that the program wrote or chose.

    A row has the columns `problem` and `tests`: see `gem_envs_code.rows` for the forms of the tests. It may have
    `solution` (a program that passes, or a list of them), `checker` and `tolerance` (see `gem_envs_code.tasks.Task`).
    Or it is as HumanEval, MBPP, LiveCodeBench, APPS, CodeContests and others have it: `gem_envs_code.formats.table`
    has the list.

    Args:
        data: where the tasks come from: see `gem.data.DataSource`.
        language: the language of the programs: `"python"`, or `"cpp"` and `"javascript"` for tests on standard input.
        partial: give the share of tests passed instead of 0.
        max_tests: the most tests to run for a program; if there are more, those with the longest inputs, as in gem-llm.
        show_failure: before another attempt, show the first failing test: its input, what is expected, and what the
            program printed.
        checker: decides whether an output is right, for all rows: a name of `gem_envs_code.checkers`, or
            `"package.module:function"`, a function of input, output and expected output that runs in your own process.
            None: each row's own, or words.
        tolerance: how far numbers in outputs and results may be from those expected, absolutely or relatively.
        like: `"livecodebench"` judges as LiveCodeBench does: numbers in outputs are compared as decimals, results as
            Python compares them, and programs may recurse 50,000 deep. It goes without checker and tolerance.
        modules: what programs in Python can import beside the standard library, such as `("numpy",)`; tests with
            assertions can, too. It has to be installed, and is imported once for all programs.
        timeout: seconds of processor time for each test.
        memory: bytes of memory for each test.
        level: how to isolate programs: see `gem_envs_code.basics.Basics`.
        min_level: how to isolate programs: see `gem_envs_code.basics.Basics`.
        instruction: see `gem.dataset_env.DatasetEnv`.
        max_attempts: see `gem.dataset_env.DatasetEnv`.
        format_error_reward: see `gem.dataset_env.DatasetEnv`.
    """

    answer_form = "fenced code block"
    look_at = 8  # tests can be large
    _unsaved = DatasetEnv._unsaved | {"_grader", "_task", "_checker"}

    def __init__(
        self,
        data: Data | None = None,
        *,
        language: str = "python",
        partial: bool = False,
        max_tests: int = 12,
        show_failure: bool = False,
        checker: str | None = None,
        tolerance: float = 0.0,
        like: Literal["livecodebench"] | None = None,
        modules: Sequence[str] = (),
        timeout: float = 4.0,
        memory: int = 512 * 2**20,
        level: gem_sandbox.Level | None = None,
        min_level: gem_sandbox.Level = "landlock",
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = FORMAT_ERROR_REWARD,
    ) -> None:
        super().__init__(
            data, instruction=instruction, max_attempts=max_attempts, format_error_reward=format_error_reward
        )
        self.max_tests = check_int("max_tests", max_tests, 1)
        self.show_failure = show_failure
        self.tolerance = finite("tolerance", tolerance)
        if like not in (None, "livecodebench"):
            raise ConfigError(f"like is 'livecodebench' or None, not {like!r}")
        if like and (checker or tolerance or language != "python"):
            raise ConfigError(
                f"like={like!r} compares Python's outputs in its own way: leave out checker, tolerance and language"
            )
        self.like = like
        try:
            self.limits = Limits(timeout=timeout, memory=memory)
        except gem_sandbox.ConfigError as error:
            raise ConfigError(str(error)) from error
        self._explained = instruction is True
        self._checker = import_path("checker", checker) if checker and ":" in checker else checker
        self._grader = Grader(language=language, partial=partial, level=level, min_level=min_level, modules=modules)
        self._task: tuple[int, Task] | None = None

    @property
    def row(self) -> Task:
        if self._task is None or self._task[0] != self.index:
            self._task = self.index, super().row
        return self._task[1]

    def _row(self, values: Mapping[str, Any]) -> Task:
        task = task_of(values)
        self._refuse_lacking(task)
        task = replace(
            task,
            checker=self._checker or task.checker,
            tolerance=self.tolerance or task.tolerance,
            limits=self.limits,
        )
        return (like_livecodebench(task) if self.like else task).at_most(self.max_tests)

    def _refuse_lacking(self, task: Task) -> None:
        """Raise a `Fault` if what comes with a row imports a module that is not there: no program could pass."""
        tests = (needed_modules(test.code) for test in task.tests if isinstance(test, AssertTest))
        lacking = task.needs.union(*tests) - {*self._grader.modules, *_BROUGHT}
        if lacking:
            names = ", ".join(sorted(lacking))
            raise Fault(f"its code imports what is not here: {names}. If it is installed, add it to `modules`")

    def _question(self, row: Task) -> Observation:
        return row.statement.strip()

    def _instructed(self, question: Observation) -> Observation:
        if self._explained:
            self.instruction = instruction_for(self.row, self._grader.language, self._grader.modules)
        return super()._instructed(question)

    def _read(self, reply: str) -> str | None:
        return fenced_code(reply)

    def _grade(self, answer: str) -> Step:
        return self._grader.grade(as_program(answer) if self.like else answer, self.row)

    def _feedback(self, step: Step) -> str:
        return self._grader.feedback(step, shown=self.show_failure)

    def _gold(self, row: Task) -> str | None:
        language = self._grader.language
        return block(row.solution, language.fence) if row.solution and row.language == language.name else None

    def sample_action(self) -> str:
        """A program that prints one random word or number."""
        language = self._grader.language
        return block(language.printing(self.action_rng.choice(_WORDS)), language.fence)
