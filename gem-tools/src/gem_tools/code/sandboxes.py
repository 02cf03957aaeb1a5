"""Shared parts of the tools that run programs: sandboxes, and the text of results."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import gem_sandbox
from gem.errors import ConfigError, Fault, MissingExtra
from gem.tool import ToolError
from gem.work.lifetime import at_exit
from gem_sandbox import Level, Result, Sandbox

_BEGINNINGS = {
    "cpu": "The program used",
    "timeout": "The program took",
    "memory": "The program used",
    "disk": "The program wrote",
    "output": "The program printed",
    "killed": "The program was",
    "error": "The program",
}
"""Reason → the beginning of a sentence that its note completes."""


@contextmanager
def as_gem_errors() -> Generator[None]:
    """Turn errors of the sandbox that the caller can correct into GEM's, which commands show in one line."""
    try:
        yield
    except (gem_sandbox.ConfigError, gem_sandbox.SandboxUnavailable) as error:
        raise ConfigError(str(error)) from error
    except gem_sandbox.ModuleMissing as error:
        raise MissingExtra(str(error)) from error


@cache
def shared_sandbox(
    modules: tuple[str, ...] = (), readable: tuple[str, ...] = (), level: Level | None = None
) -> Sandbox:
    """The sandbox with these settings: one per process, so that all envs share its slots.

    Raises:
        ModuleMissing: a module is not installed (`as_gem_errors` makes it `MissingExtra`).
    """
    sandbox = Sandbox(modules=modules, readable=readable, level=level)
    at_exit(sandbox.close)
    return sandbox


async def run_program(sandbox: Sandbox, code: str, **arguments: Any) -> Result:
    """`sandbox.arun(code, **arguments)`, with GEM's errors.

    Raises:
        ConfigError: no level works here that is as strong as was asked for; the message says why and what to do.
    """
    with as_gem_errors():
        return await sandbox.arun(code, **arguments)


def format_result(result: Result, *, last_line: bool = False) -> str:
    """Text of a program's result for the agent: its output, and how it ended if it failed.

    Args:
        result: of the program.
        last_line: show only the last line of standard error.

    Raises:
        ToolError: with the same text, if the program failed.
        Fault: the sandbox failed, and not the program.
    """
    if result.reason == "sandbox_error":
        raise Fault(result.note)
    errors = result.stderr.rstrip()
    parts = [result.stdout.rstrip("\n"), errors.rpartition("\n")[2] if last_line else errors]
    if result.truncated:
        parts.append("(There was more output than is shown.)")
    if not result.ok and (result.reason != "error" or not errors):
        parts.append(f"({_BEGINNINGS[result.reason]} {result.note}.)")
    text = "\n".join(filter(None, parts))
    if not result.ok:
        raise ToolError(text)
    return text or "(The program printed nothing.)"
