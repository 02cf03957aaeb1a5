"""Instructions for agents about the programs that they write."""

from collections.abc import Sequence

from gem_envs_code.assertions import as_call
from gem_envs_code.languages import Language
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest, Task, Test


def instruction_for(task: Task, language: Language, modules: Sequence[str] = ()) -> str:
    """The instruction of a task, whose programs can import `modules` beside the standard library."""
    limits, many = task.limits, len(task.tests)
    tests = f"{many} hidden tests" if many > 1 else "a hidden test"
    library = " and ".join(["The standard library", *modules]) + (" are there" if modules else " is there")
    return (
        f"Write {_what(task.tests[0], language)}. {library}, and nothing else. It is run on {tests}"
        f", each with {limits.timeout:g} seconds of processor time and {limits.memory // 2**20} MB of memory.\n"
        f"{how_to_answer(language)}"
    )


def how_to_answer(language: Language) -> str:
    """The instruction about the form of a reply."""
    return (
        f"You may think first. Give the whole program in one block that opens with ```{language.fence} and closes with "
        "```, each on a line of its own; only the last block counts."
    )


def _what(test: Test, language: Language) -> str:
    if isinstance(test, StdinTest):
        return f"a {language.title} program that reads standard input and writes to standard output"
    call = as_call(test) if isinstance(test, AssertTest) else test
    if isinstance(call, CallTest):
        return f"a {language.title} program with the function `{call.function}`, which returns the result"
    return f"{language.title} code that defines what is asked for"
