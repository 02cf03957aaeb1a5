"""The format that is GEM's own and gem-llm's: a problem and its tests, in the forms that `gem_envs_code.rows` lists."""

from gem_envs_code.formats.columns import Row, entry, solution, task, text, with_start
from gem_envs_code.rows import read_tests
from gem_envs_code.tasks import Task

STATEMENTS = ("question", "problem", "prompt")
TESTS = ("tests", "test_cases")


def general(row: Row) -> Task:
    """A row of GEM, gem-llm, DeepCoder or AceCode, or one whose columns `data` has renamed."""
    column = next((row[name] for name in TESTS if row.get(name) is not None), None)
    return task(
        row,
        with_start(row, text(row, *STATEMENTS)),
        read_tests(column, entry(row, "metadata", "func_name")),
        solution(row.get("solution") or row.get("solutions"), row.get("language") or "python"),
        checker=text(row, "checker") or "words",
        tolerance=float(row.get("tolerance") or 0.0),
    )
