"""Rows for trainers that ask verifiers: SYNTHETIC-1, open-r1's verifiable problems, and the layout of verl."""

from collections.abc import Mapping, Sequence
from typing import cast

from gem.data.literals import plain
from gem.errors import Fault
from gem_envs_code.formats.columns import Row, entry, solution, task, text
from gem_envs_code.rows import read_tests
from gem_envs_code.tasks import Task

_LANGUAGES = {"c++": "cpp", "node": "javascript", "js": "javascript"}


def synthetic(row: Row) -> Task:
    """A row of SYNTHETIC-1 or of open-r1's problems: `verification_info` has the tests, as data or as its text."""
    tests = entry(row, "verification_info", "test_cases")
    if tests is None:
        kind = text(row, "task_type") or "another kind"
        raise Fault(f"a task of the kind {kind!r}, which tests do not decide: verification_info has no test_cases")
    named = str(entry(row, "verification_info", "language") or "python").lower()
    statement = text(row, "problem_statement", "prompt", "problem", "question")
    return task(
        row, statement, read_tests(tests), solution(row.get("gold_standard_solution"), _LANGUAGES.get(named, named))
    )


def verl(row: Row) -> Task:
    """A row of verl: the messages of a `prompt`, and `reward_model` with the tests as its `ground_truth`."""
    prompt = plain(row["prompt"])
    if isinstance(prompt, Sequence) and not isinstance(prompt, str):
        messages = cast("Sequence[Mapping[str, str]]", prompt)
        prompt = next((each["content"] for each in reversed(messages) if each["role"] == "user"), "")
    tests = entry(row, "reward_model", "ground_truth")
    return task(row, str(prompt), read_tests(tests), solution(entry(row, "extra_info", "solution")))
