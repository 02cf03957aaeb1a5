"""gem.sandbox at the strongest level, for `sandbox.py`."""

from sides.programs import PROGRAMS

from gem import sandbox


class Runner:
    """Two slots for programs of the standard library, and two that have imported numpy."""

    def __init__(self, level, prefix):
        self.plain = sandbox.Sandbox(slots=2, level=level)
        self.numpy = sandbox.Sandbox(slots=2, level=level, modules=("numpy",))
        self.level = self.plain.run("").level

    def run(self, program):
        """Whether every output is right."""
        code, cases = PROGRAMS[program]
        box = self.numpy if "numpy" in code else self.plain
        if len(cases) > 1:
            return box.run_tests(code, cases).passed
        result = box.run(code, stdin=cases[0][0])
        return result.ok and result.stdout == cases[0][1]
