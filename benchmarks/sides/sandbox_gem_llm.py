"""gem-llm's runner of Python code, for `sandbox.py`."""

import os
import sys

from sides.programs import PROGRAMS

from gem.utils.sandbox import run_python


class Runner:
    """Programs with `sandbox_type` "none" or "bwrap"; one test after another, each in a process of its own.

    gem-llm's bwrap shows a program the prefix of the Python it runs in and nothing else, which must therefore be one
    that holds all of an interpreter; `prefix` is.
    """

    def __init__(self, sandbox_type, prefix):
        self.sandbox_type = sandbox_type
        self.level = sandbox_type
        if sandbox_type == "bwrap":
            sys.prefix = prefix
        os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"

    def run(self, program):
        """Whether the verdict is right. Like gem-llm's env, it runs a program on every case, whatever came before."""
        code, cases, right, _ = PROGRAMS[program]
        ended = [run_python(code, self.sandbox_type, stdin)[:2] for stdin, _ in cases]
        return right == sum(
            done and written.strip() == expected.strip()
            for (done, written), (_, expected) in zip(ended, cases, strict=True)
        )
