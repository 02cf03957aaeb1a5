"""The child's side of `runner`: put limits on this process, say so, and become the program in `main.py`.

`runner` runs this file as a script; nothing imports it. The limits are set here and not in a `preexec_fn`, which is
not safe in a process with threads.
"""

import builtins
import os
import resource
import sys
import types


def limit(which: int, soft: int, hard: int) -> None:
    """Set a limit of this process, never above the hard limit that it was started with."""
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))


def main(ready: int, cpu_seconds: int, memory: int, file_size: int) -> None:
    """Run `main.py` of this folder under limits, after writing one byte to the file descriptor `ready`."""
    with open("main.py", "rb") as file:
        source = file.read()
    # At the soft limit comes SIGXCPU, which tells a program out of time from one that was killed for another reason.
    limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    limit(resource.RLIMIT_FSIZE, file_size, file_size)
    limit(resource.RLIMIT_CORE, 0, 0)
    limit(resource.RLIMIT_NPROC, 0, 0)
    if sys.platform != "darwin":  # macOS has the name and refuses the call
        limit(resource.RLIMIT_AS, memory, memory)
    os.write(ready, b"1")
    os.close(ready)

    program = types.ModuleType("__main__")
    program.__file__ = "main.py"
    sys.modules["__main__"] = program
    # Python's own record of the command line would name the folder that holds this file, and the tasks' answers.
    sys.argv, sys.orig_argv = ["main.py"], ["main.py"]
    # Programs use them, and they are the work of `site`, which `-S` leaves out.
    builtins.exit = builtins.quit = sys.exit
    exec(compile(source, "main.py", "exec", dont_inherit=True), vars(program))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
