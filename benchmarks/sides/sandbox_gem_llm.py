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
        """Whether every output is right."""
        code, cases = PROGRAMS[program]
        return all(run_python(code, self.sandbox_type, stdin)[:2] == (True, expected) for stdin, expected in cases)
