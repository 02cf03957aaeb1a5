"""Basics: small programming tasks, graded by running the program on hidden tests."""

from collections.abc import Sequence

import gem_sandbox
from gem.answers.parsing import fenced_code
from gem.core import Step
from gem.dataset_env import DatasetEnv
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_code.basics_tasks import ProgrammingTask, load_tasks
from gem_envs_code.grader import Grader, block
from gem_envs_code.instructions import how_to_answer
from gem_envs_code.languages import PYTHON
from gem_envs_code.tasks import LIMITS

_WORDS = ("0", "1", "2", "3", "5", "8", "10", "yes", "no", "none")


class Basics(DatasetEnv[ProgrammingTask, str]):
    """Solve one of fourteen small tasks with a Python program, from standard input to standard output.

    One turn. The question holds the task, an example and the limits; an action is a reply whose last fenced code
    block is the whole program. The program runs on each hidden test in the sandbox (`gem_sandbox`, shared by all envs
    of a process), where it can read nothing of this machine but Python, not the tests either.

    Rewards: the share of the hidden tests passed; success is all of them. As in gem-llm's code environments, a reply
    without a code block costs 0.1. (gem-llm gives 1 for all tests and 0 otherwise.) A program that crashes, hangs or
    prints too much fails its tests. A fault of the sandbox raises `gem.errors.Fault`; where no isolation works, as
    outside Linux, the first program raises `gem.errors.ConfigError`, which says why and what to do.

    The last observation says how many tests were passed and the kind of the first failure. It holds nothing that the
    program wrote or chose: that could be the hidden inputs, and with so few tasks a model could memorise the outputs.

    `reset(options={"index": 3})` chooses the task.

    Args:
        level: how to isolate programs, a level of `gem_sandbox`; None for the strongest that works here. `"seccomp"`
            lets them read the hidden tests, `"process"` lets them do everything that you can do.
        min_level: the weakest level to accept if `level` is None.
        format_error_reward: what a reply without a code block earns.
    """

    answer_form = "fenced code block"
    _unsaved = DatasetEnv._unsaved | {"_grader"}

    def __init__(
        self,
        *,
        level: gem_sandbox.Level | None = None,
        min_level: gem_sandbox.Level = "landlock",
        format_error_reward: float = FORMAT_ERROR_REWARD,
    ) -> None:
        super().__init__(format_error_reward=format_error_reward)
        self._grader = Grader(partial=True, level=level, min_level=min_level)

    @property
    def rows(self) -> Sequence[ProgrammingTask]:
        return load_tasks("basics.toml")

    def _question(self, row: ProgrammingTask) -> str:
        return (
            "Write a Python 3 program that reads standard input and writes to standard output. "
            "The standard library is there, and nothing else.\n\n"
            f"{row.statement}\n\n"
            f"Example input:\n{row.example.input}\n"
            f"Example output:\n{row.example.output}\n"
            f"Your program is run on {len(row.tests)} hidden tests, each with {LIMITS.timeout:g} seconds of "
            f"processor time and {LIMITS.memory // 2**20} MB of memory. It can start no processes. "
            "How many spaces stand between words makes no difference.\n"
            f"{how_to_answer(PYTHON)}"
        )

    def _read(self, reply: str) -> str | None:
        return fenced_code(reply)

    def _grade(self, answer: str) -> Step:
        return self._grader.grade(answer, self.row)

    def sample_action(self) -> str:
        """A program that prints one random word or number."""
        return block(f"print({self.action_rng.choice(_WORDS)!r})")

    def expert_action(self) -> str:
        """The reference solution."""
        return block(self.row.solution)
