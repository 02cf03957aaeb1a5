"""Values of columns: texts, programs among solutions, parts of a statement."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from gem.answers.parsing import fenced_code
from gem.data.literals import plain
from gem_envs_code.imports import needed_modules
from gem_envs_code.tasks import Task, Test

Row = Mapping[str, Any]
"""Column → value."""


class Solution(NamedTuple):
    """A program that passes, and the language that it is written in."""

    program: str = ""
    language: str = "python"


NO_SOLUTION = Solution()


def text(row: Row, *columns: str) -> str:
    """The first of some columns that is a text and not empty; else ""."""
    return next((value for name in columns if isinstance(value := row.get(name), str) and value.strip()), "")


def solution(value: Any, language: str = "python") -> Solution:
    """The first program of a column of solutions: a text, fenced or not, a list of these, or such a list as text.

    >>> solution('["print(1)", "pass"]'), solution("```python\\nprint(2)\\n```")
    (Solution(program='print(1)', language='python'), Solution(program='print(2)', language='python'))
    """
    value = plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        several = cast("Sequence[Any]", value)
        value = next((each for each in several if isinstance(each, str) and each.strip()), "")
    if not isinstance(value, str):
        return NO_SOLUTION
    return Solution((fenced_code(value) if "```" in value or "~~~" in value else None) or value, language)


def with_code(statement: str, said: str, code: str) -> str:
    """A statement, and after `said` code that belongs to it, unless there is none or the statement has it."""
    code = code.strip()
    return f"{statement.rstrip()}\n\n{said}\n```python\n{code}\n```" if code and code not in statement else statement


def with_start(row: Row, statement: str) -> str:
    """A statement, with the code that a program for it begins with, if the row has some."""
    return with_code(statement, "Begin with this code:", text(row, "starter_code"))


def entry(row: Row, column: str, key: str) -> Any:
    """An entry of a column that is a mapping, or the text of one; None without it."""
    mapping = plain(row.get(column))
    return cast("Row", mapping).get(key) if isinstance(mapping, Mapping) else None


def task(
    row: Row,
    statement: str,
    tests: Sequence[Test],
    solved: Solution = NO_SOLUTION,
    *,
    checker: str = "words",
    tolerance: float = 0.0,
    begins: str = "",
) -> Task:
    """The task of a row, which is called by its id; programs for it begin with the code `begins`."""
    named = next((row[name] for name in _NAMES if row.get(name) not in (None, "")), "")
    return Task(
        statement=statement,
        tests=tuple(tests),
        name=str(named),
        solution=solved.program,
        language=solved.language,
        checker=checker,
        tolerance=tolerance,
        needs=frozenset(needed_modules(begins)),
    )


_NAMES = ("name", "id", "task_id", "problem_id", "question_id", "in_source_id")
