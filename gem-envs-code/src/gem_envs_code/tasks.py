"""Tasks: a statement, a public example, hidden tests and a reference solution."""

import functools
import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A program's input and the right output. Both end with a line break."""

    input: str
    output: str


class Task(NamedTuple):
    """One programming task: a program from standard input to standard output."""

    name: str
    statement: str
    example: Case
    """Shown to the agent, and none of the tests."""
    tests: tuple[Case, ...]
    """Hidden from the agent."""
    solution: str
    """A program that passes every test."""


@functools.cache
def load_tasks(file_name: str) -> tuple[Task, ...]:
    """The tasks in a file of this package, which says in its first lines how it is written."""
    content = resources.files("gem_envs_code").joinpath(file_name).read_text(encoding="utf-8")
    return tuple(_task(row) for row in tomllib.loads(content)["task"])


def _task(row: dict[str, Any]) -> Task:
    return Task(
        name=row["name"],
        statement=row["statement"].strip(),
        example=_case(row["example"]),
        tests=tuple(_case(pair) for pair in row["tests"]),
        solution=row["solution"],
    )


def _case(pair: list[str]) -> Case:
    given, right = pair
    return Case(given + "\n", right + "\n")
