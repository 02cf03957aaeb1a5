"""The tool `bash`: commands in a sandbox."""

from gem.checks import check_int
from gem.tool import Tool, tool
from gem_sandbox import Level, Limits
from gem_tools.code.sandboxes import as_gem_errors, format_result, run_program, shared_sandbox

_PROGRAM = "import os\nos.execv('/bin/bash', ['bash', 'commands.sh'])"
_PROGRAMS = ("/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib")
"""The folders of bash and of the programs that it calls."""


@as_gem_errors()
def bash_tool(
    *, timeout: float = 5.0, memory: int = 512 << 20, processes: int = 32, level: Level | None = None
) -> Tool:
    """The tool `bash`: commands in, what they print out.

    The commands run in a new sandbox, in an empty folder, with the programs of this machine's `/bin` and `/usr/bin`,
    without network. Processes are isolated from each other by namespaces, so this needs the level
    "bubblewrap" or "unshare".

    Args:
        timeout: seconds of CPU time, for each process; four times that and one more on the clock ends them all.
        memory: bytes of memory, for each process.
        processes: how many may run at once beside bash itself, including their threads.
        level: of isolation; None for the strongest that works on this machine.

    Raises:
        ConfigError: an argument is out of range; bash needs at least one process.
    """
    limits = Limits(timeout=timeout, memory=memory, processes=check_int("processes", processes, 1))
    sandbox = shared_sandbox(readable=_PROGRAMS, level=level)

    @tool(name="bash")
    async def bash(commands: str) -> str:
        """Run bash commands in an empty folder, without network; you are told what they print.

        Each call starts afresh, with the folder empty again.

        Args:
            commands: one or more lines of bash.
        """
        return format_result(await run_program(sandbox, _PROGRAM, files={"commands.sh": commands}, limits=limits))

    return bash
