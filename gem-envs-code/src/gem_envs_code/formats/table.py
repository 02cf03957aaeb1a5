"""All formats of rows. A row is recognised by its columns."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gem.errors import ConfigError, Fault
from gem_envs_code.emptiness import refuse_empty
from gem_envs_code.formats.assertions import big_code_bench, human_eval, mbpp
from gem_envs_code.formats.columns import Row
from gem_envs_code.formats.contests import apps, code_contests, codeforces
from gem_envs_code.formats.general import STATEMENTS, TESTS, general
from gem_envs_code.formats.kodcode import kodcode
from gem_envs_code.formats.livecodebench import livecodebench
from gem_envs_code.formats.verified import synthetic, verl
from gem_envs_code.tasks import Task


class Format(NamedTuple):
    """A format of rows."""

    names: str
    """The data sets that have it."""
    columns: tuple[tuple[str, ...], ...]
    """The columns that a row of it has; of those in one tuple, one at least."""
    read: Callable[[Row], Task]

    def has(self, row: Row) -> bool:
        """Tell whether a row has the columns of this format."""
        return all(any(name in row for name in names) for names in self.columns)

    def __str__(self) -> str:
        return f"{self.names} ({', '.join(' or '.join(names) for names in self.columns)})"


class _Noting(Mapping[str, Any]):
    """A row that notes which of its columns was read last."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.last = ""

    def __getitem__(self, column: str) -> Any:
        if column in self.row:
            self.last = column
        return self.row[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)


_MALFORMED = (TypeError, ValueError, LookupError, AttributeError, RecursionError)
_PROMPTS = ("prompt", "question", "problem_description")
FORMATS = (
    Format("LiveCodeBench", (("question_content",), ("public_test_cases", "private_test_cases")), livecodebench),
    Format("CodeContests", (("description",), ("public_tests", "private_tests", "generated_tests")), code_contests),
    Format("open-r1's Codeforces", (("description",), ("official_tests",)), codeforces),
    Format(
        "SYNTHETIC-1, open-r1's problems",
        (("prompt", "problem_statement", "problem"), ("verification_info",)),
        synthetic,
    ),
    Format("verl", (("prompt",), ("reward_model",)), verl),
    Format("APPS, TACO", (("question",), ("input_output",)), apps),
    Format("BigCodeBench", (("instruct_prompt", "complete_prompt"), ("test",), ("entry_point",)), big_code_bench),
    Format("HumanEval, HumanEval+, LeetCodeDataset", (_PROMPTS, ("test", "tests"), ("entry_point",)), human_eval),
    Format("MBPP, MBPP+", (("text", "prompt"), ("test_list",)), mbpp),
    Format("MBPP, renamed", (("question",), ("tests",), ("test_setup_code", "test_imports")), mbpp),
    Format("KodCode", (("question",), ("test", "test_code")), kodcode),
    Format("KodCode, renamed", (("question",), ("tests",), ("test_info", "test_entry_point")), kodcode),
    Format("GEM, gem-llm, DeepCoder, AceCode", (STATEMENTS, TESTS), general),
)
"""The formats, the more special before the more general."""


def task_of(row: Row) -> Task:
    """The task of a row.

    Raises:
        ConfigError: its columns are those of no format.
        Fault: a column cannot be read, or its tests check nothing.
    """
    for form in FORMATS:
        if form.has(row):
            noting = _Noting(row)
            try:
                task = form.read(noting)
            except _MALFORMED as error:
                raise Fault(
                    f"the column {noting.last} is not as {form.names} have it ({type(error).__name__}: {error}): "
                    f"{row.get(noting.last)!r:.200}"
                ) from error
            refuse_empty(task)
            return task
    known = "\n".join(f"- {form}" for form in FORMATS)
    raise ConfigError(
        f"a row with the columns {', '.join(map(str, row))} has none of the formats that are known:\n{known}"
    )
