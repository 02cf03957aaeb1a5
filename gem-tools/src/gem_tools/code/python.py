"""The tool `python`: one program per call."""

from collections.abc import Sequence

from gem.tool import Tool, tool
from gem_sandbox import Level, Limits
from gem_tools.code.sandboxes import as_gem_errors, format_result, run_program, shared_sandbox


@as_gem_errors()
def python_tool(
    *,
    timeout: float = 5.0,
    memory: int = 512 << 20,
    modules: Sequence[str] = ("numpy",),
    last_line_of_errors: bool = False,
    level: Level | None = None,
) -> Tool:
    """The tool `python`: a program in, its output out.

    Each call is a process of its own in a sandbox (`gem_sandbox`): it keeps nothing from the call before and reaches
    no file, no network and no other process. A program that fails, or is ended at a limit, is an answer to the agent,
    with what it printed before.

    Args:
        timeout: seconds of CPU time.
        memory: bytes of memory.
        modules: what programs can import besides the standard library; imported once, not in each call.
        last_line_of_errors: show only the last line of a traceback.
        level: of isolation; None for the strongest that works on this machine.

    Raises:
        MissingExtra: a module is not installed.
    """
    limits = Limits(timeout=timeout, memory=memory)
    sandbox = shared_sandbox(tuple(modules), level=level)
    described = " and ".join(["the standard library", *modules])

    @tool(
        name="python",
        description=f"Run a Python program; you are told what it prints. It can import {described}. "
        "Each program starts afresh.",
    )
    async def python(code: str) -> str:
        return format_result(await run_program(sandbox, code, limits=limits), last_line=last_line_of_errors)

    return python
