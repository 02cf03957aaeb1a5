"""Environments on rows, and functions that return rows. Workers import this module by its name."""

import os

from gem.answers.parsing import boxed
from gem.core import Step
from gem.dataset_env import DatasetEnv

ROLES = {"question": "problem", "answer": "answer"}


def sums(count=10):
    """Rows in the columns of `Sums`."""
    return [{"problem": f"{i} + 1?", "answer": str(i + 1), "level": i % 3} for i in range(count)]


def made():
    yield from sums()


class Sums(DatasetEnv):
    """Add one. The box earns 1 if it has the right number, otherwise 0."""

    columns = ROLES
    default_instruction = "Answer in \\boxed{}."

    def _question(self, row):
        return row["question"]

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        success = answer == self.row["answer"]
        return Step.final("Right." if success else "Wrong.", float(success), success=success)

    def _gold(self, row):
        return f"\\boxed{{{row['answer']}}}"

    def sample_action(self):
        return self._gold(self._row(self.action_rng.choice(self.rows)))


class TellingSums(Sums):
    """Sums that say in which process they are asked."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options)[0], {"pid": os.getpid()}
