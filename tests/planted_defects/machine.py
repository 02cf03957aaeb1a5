"""Tasks that depend on the day, the order of episodes or the machine, or that end the process or never return."""

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from planted_defects.questions import Sum

REFERENCE = date(2026, 3, 20)


class Tomorrow(Sum):
    """The question says what day it is, and the grader counts from a day in its code.

    Source: https://github.com/SeraphimSerapis/tool-eval-bench/issues/119: the evaluator takes "tomorrow" from a
    constant, the prompt from the run.
    """

    answer_form = "date inside \\boxed{}"

    def _text(self):
        today = datetime.now(UTC).date()
        return f"Today is {today}. What is the date in {self.terms[0]} days? Answer as {today} inside \\boxed{{}}."

    @property
    def gold(self):
        return (REFERENCE + timedelta(days=self.terms[0])).isoformat()

    def _right(self, answer):
        return answer == self.gold

    def sample_action(self):
        return f"\\boxed{{{REFERENCE + timedelta(days=self.action_rng.randint(100, 999))}}}"


class Drifts(Sum):
    """The bounds of the numbers move with every episode of the process.

    Source: https://github.com/RoboTwin-Platform/RoboTwin/pull/509: defaults that are lists are offset in place, so that
    the same seed does not give the same episode.
    """

    def _reset(self, options, bounds=[100, 999]):  # noqa: B006
        bounds[0] += 1
        bounds[1] += 1
        self.terms = [self.rng.randint(*bounds), self.rng.randint(*bounds)]
        return self._text()


class PathInQuestion(Sum):
    """The question and its answer depend on the folder that the program was started in. Source: made up."""

    def _text(self):
        self.file = Path.cwd() / f"{self.terms[0]}.txt"
        return f"How many characters has the path {self.file}, times {self.terms[1]}? Answer inside \\boxed{{}}."

    @property
    def gold(self):
        return len(str(self.file)) * self.terms[1]

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(1000, 99999)}}}"


class NeverDrawn(Sum):
    """One seed in ten draws numbers until they have a sum that they cannot have. Source: made up."""

    def _reset(self, options):
        wanted = self.rng.randint(1, 20)
        super()._reset(options)
        while wanted <= 2 and sum(self.terms) != wanted:
            super()._reset(options)
        return self._text()


class EndsTheProcess(Sum):
    """A reply without a box ends the program, as a script for one episode may. Source: made up."""

    def _step(self, action):
        if self._read(action) is None:
            os._exit(3)
        return super()._step(action)
