"""gem_sandbox at the strongest level, for `sandbox.py`."""

from sides.programs import PROGRAMS

import gem_sandbox as sandbox


class Runner:
    """Two slots for programs of the standard library, and two that have imported numpy."""

    def __init__(self, level, prefix):
        self.plain = sandbox.Sandbox(slots=2, level=level)
        self.numpy = sandbox.Sandbox(slots=2, level=level, modules=("numpy",))
        self.level = self.plain.run("").level

    def run(self, program):
        """Whether the verdict is right."""
        code, cases, right, share = PROGRAMS[program]
        box = self.numpy if "numpy" in code else self.plain
        verdict = box.run_tests(code, cases, stop="never" if share else "failure")
        return verdict.count == right if share else verdict.passed == (right == len(cases))
