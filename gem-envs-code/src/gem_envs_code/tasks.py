"""Tasks: a statement, and the tests that a program for it must pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from gem.errors import ConfigError
from gem_sandbox import Limits

LIMITS = Limits(timeout=2.0, wall=10.0, memory=512 * 2**20, output=2**20)
"""Limits for a test. On the clock, what the program waits for a processor of a busy machine does not count."""

Same = Literal["json", "python", "livecodebench"]
"""The comparison of results. `json`: the type decides too, as far as JSON can tell types: 1 is neither True nor
1.0, but 1.0 may be 1, a tuple or an array of numbers may stand for a list, and the keys of a dict count as text.
`python`: what `==` of Python says, without arrays. `livecodebench`: the same, and a result that is a tuple counts as
a list."""

Checker = Callable[[str, str, str], bool]
"""A function that judges a program: from the input, what it printed, and the output of the test."""


@dataclass(frozen=True, slots=True)
class StdinTest:
    """A test by standard input and the expected standard output."""

    __test__: ClassVar[bool] = False

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class CallTest:
    """A call of a function of the program, and its result, all of it plain data.

    `function` is a function of the program, or a method of its class `Solution`.
    """

    __test__: ClassVar[bool] = False

    function: str
    arguments: tuple[Any, ...]
    result: Any
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])
    same: Same = "json"
    or_first: bool = False
    """The first item of `result` is right, too: TACO and APPS put most results into a list."""


@dataclass(frozen=True, slots=True)
class AssertTest:
    """Python code with assertions about the functions and classes of the program."""

    __test__: ClassVar[bool] = False

    code: str


Test = StdinTest | CallTest | AssertTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A programming task.

    Attributes:
        statement: What to do.
        tests: Hidden from the agent.
        name: What reports call it.
        solution: A program that passes every test, or "".
        language: The language of `solution`.
        checker: Decides whether an output is right: a name in `gem_envs_code.checkers.COMPARISONS`; or a Python
            program, which runs in the sandbox, finds the files `input.txt`, `printed.txt` and `expected.txt`, and ends
            with status 0 if the output is right; or a function, which runs in your own process.
        tolerance: How far numbers may be from those expected, absolutely or relatively.
        needs: Modules beside the standard library that the beginning of a program, which the statement has, imports.
        limits: What a program may use on each test.
    """

    statement: str
    tests: tuple[Test, ...]
    name: str = ""
    solution: str = ""
    language: str = "python"
    checker: str | Checker = "words"
    tolerance: float = 0.0
    needs: frozenset[str] = frozenset()
    limits: Limits = LIMITS

    def __post_init__(self) -> None:
        if not self.tests:
            raise ConfigError(f"the task {self.name!r} has no tests")

    def at_most(self, count: int) -> "Task":
        """The task with at most `count` tests: those with the longest inputs, as in gem-llm, in their order."""
        if len(self.tests) <= count:
            return self
        longest = sorted(range(len(self.tests)), key=lambda each: -_length(self.tests[each]))[:count]
        return replace(self, tests=tuple(self.tests[each] for each in sorted(longest)))


def _length(test: Test) -> int:
    if isinstance(test, StdinTest):
        return len(test.input)
    return len(test.code) if isinstance(test, AssertTest) else len(repr(test.arguments))
