"""The tasks of Basics: in the file `basics.toml`."""

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from gem_envs_code.tasks import StdinTest, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgrammingTask(Task):
    """A task for a program that reads standard input and writes standard output."""

    example: StdinTest
    """An example for the agent; it is not one of the tests."""


@functools.cache
def load_tasks(file_name: str) -> tuple[ProgrammingTask, ...]:
    """The tasks in a file of this package, whose first lines describe its format."""
    content = resources.files("gem_envs_code").joinpath(file_name).read_text(encoding="utf-8")
    return tuple(_task(row) for row in tomllib.loads(content)["task"])


def _task(row: dict[str, Any]) -> ProgrammingTask:
    return ProgrammingTask(
        name=row["name"],
        statement=row["statement"].strip(),
        example=_test(row["example"]),
        tests=tuple(_test(pair) for pair in row["tests"]),
        solution=row["solution"],
    )


def _test(pair: list[str]) -> StdinTest:
    given, right = pair
    return StdinTest(given + "\n", right + "\n")
