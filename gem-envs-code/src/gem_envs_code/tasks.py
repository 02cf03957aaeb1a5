"""Tasks: a statement, a public example, hidden tests and a reference solution."""

import functools
import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Case(NamedTuple):
    """The input of a program and the right output. Both end with a line break."""

    input: str
    output: str


class ProgrammingTask(NamedTuple):
    """A task for a program that reads standard input and writes standard output."""

    name: str
    statement: str
    example: Case
    """Shown to the agent; it is not one of the tests."""
    tests: tuple[Case, ...]
    """Hidden from the agent."""
    solution: str
    """A program that passes every test."""


@functools.cache
def load_tasks(file_name: str) -> tuple[ProgrammingTask, ...]:
    """The tasks in a file of this package, whose first lines describe its format."""
    content = resources.files("gem_envs_code").joinpath(file_name).read_text(encoding="utf-8")
    return tuple(_task(row) for row in tomllib.loads(content)["task"])


def _task(row: dict[str, Any]) -> ProgrammingTask:
    return ProgrammingTask(
        name=row["name"],
        statement=row["statement"].strip(),
        example=_case(row["example"]),
        tests=tuple(_case(pair) for pair in row["tests"]),
        solution=row["solution"],
    )


def _case(pair: list[str]) -> Case:
    given, right = pair
    return Case(given + "\n", right + "\n")
