"""The tool `notebook`: Python with a state that lasts for the episode."""

import json
from collections.abc import Sequence
from importlib.resources import files

from gem.tool import Resource, Tool, tool
from gem_sandbox import Level, Limits
from gem_tools.code.sandboxes import as_gem_errors, format_result, run_program, shared_sandbox

Cells = list[str]
"""The cells that were run, in order."""

_LOST = ("cpu", "timeout", "memory", "disk", "killed", "output")
"""Results after which a cell is not kept: run again, it would end every later cell as well."""


class Notebook(Resource[Cells]):
    """The cells of an episode. They are the whole state, so snapshots and forks need nothing else."""

    def open(self) -> Cells:
        return []

    def close(self, state: Cells) -> None:
        state.clear()

    def renew(self, state: Cells) -> bool:
        state.clear()
        return True

    def snapshot(self, state: Cells) -> bytes:
        return json.dumps(state).encode()

    def restore(self, state: Cells, saved: bytes) -> None:
        state[:] = json.loads(saved)


@as_gem_errors()
def notebook_tool(
    *,
    timeout: float = 10.0,
    memory: int = 512 << 20,
    modules: Sequence[str] = ("numpy",),
    level: Level | None = None,
) -> Tool:
    """The tool `notebook`: a cell in; what it prints, and the value of its last line, out.

    Later cells of the episode see what earlier ones defined. Each call runs the earlier cells again, without output,
    in a new sandboxed process, then the new one: only text outlives a call, so nothing can leak or hang between calls,
    and the notebook can be saved and forked at any point. `random` and numpy's global generator are seeded, so that
    cells give the same results each time. A cell that fails keeps what it defined before; one that is ended at a limit
    is not kept.

    Args:
        timeout: seconds of CPU time, for a cell and all before it.
        memory: bytes of memory.
        modules: what cells can import besides the standard library.
        level: of isolation; None for the strongest that works on this machine.

    Raises:
        MissingExtra: a module is not installed.
    """
    limits = Limits(timeout=timeout, memory=memory)
    sandbox = shared_sandbox(tuple(modules), level=level)
    program = files("gem_tools").joinpath("code", "notebook_program.py").read_text(encoding="utf-8")
    described = " and ".join(["the standard library", *modules])

    @tool(
        name="notebook",
        description="Run Python in a notebook; you are told what the cell prints and the value of its last line. "
        f"Later cells see what earlier ones defined. It can import {described}.",
        resource=Notebook(),
    )
    async def notebook(cells: Cells, code: str) -> str:
        result = await run_program(sandbox, program, files={"cells.json": json.dumps([*cells, code])}, limits=limits)
        if result.reason not in (*_LOST, "sandbox_error"):
            cells.append(code)
        return format_result(result)

    return notebook
