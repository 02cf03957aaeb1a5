"""A sound programming task with a small judge of its own: the base of the planted defects."""

import json
import subprocess
import sys
from functools import cache
from tempfile import TemporaryDirectory

from gem import Step
from gem.answers import fenced_code
from gem.dataset_env import QuestionEnv

INPUTS = (-7, 0, 3, 12, 100)


@cache
def run(program):
    """The exit status of a program, and what it printed, in a folder of its own."""
    command = [sys.executable, "-I", "-S", "-c", program]
    with TemporaryDirectory() as folder:
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=5, check=False)
        except (subprocess.TimeoutExpired, ValueError):
            return 1, ""
    return done.returncode, done.stdout


class Line(QuestionEnv[str]):
    """Write a function in Python: 1 for one that returns what is asked for."""

    answer_form = "fenced code block"

    def _reset(self, options):
        self.factor, self.summand = self.rng.randint(2, 99), self.rng.randint(1, 999)
        return (
            f"Write a Python function f(x) that returns {self.factor} times x plus {self.summand} for an integer x. "
            "Answer with the program in a fenced code block."
        )

    @property
    def golds(self):
        return [self.factor * x + self.summand for x in INPUTS]

    def _read(self, reply):
        return fenced_code(reply)

    def _passes(self, program):
        """Whether the results are right, which this process decides: the program never sees them."""
        _, printed = run(f"{program}\nprint('\\n' + __import__('json').dumps([f(x) for x in {INPUTS}]))")
        try:
            results = json.loads(printed.splitlines()[-1])
        except (IndexError, ValueError, RecursionError):
            return False
        return results == self.golds and all(type(each) is int for each in results)

    def _grade(self, answer):
        right = self._passes(answer)
        return Step.final("All tests passed." if right else "A test failed.", float(right), success=right)

    def sample_action(self):
        return f"```python\ndef f(x):\n    return x + {self.action_rng.randint(1, 99)}\n```"

    def expert_action(self):
        return f"```python\ndef f(x):\n    return {self.factor} * x + {self.summand}\n```"
