"""Tasks that show the answer."""

import base64

from gem import Step
from gem.errors import ToolError
from gem.tool import tool
from planted_defects.games import Guess
from planted_defects.questions import FACTS, Capitals, Sum
from planted_defects.tool_tasks import Library


class FormatHint(Capitals):
    """The question has a hint at the form of the answer, which is the answer.

    Source: https://github.com/ucbepic/DataAgentBench/pull/56: prompts had `GROUND TRUTH HINT (format only)` with the
    gold value in 79 of 270 trials.
    """

    def _question(self, row):
        return f"{row['question']}\nHint at the format (not the answer): a text value similar to '{row['answer']}'."


class ScoreTold(Sum):
    """Before the second attempt the agent is shown what the grader expected.

    Source: https://github.com/Arize-ai/phoenix/pull/14195: the next step of a task can read the check and the result of
    the step before, which makes it "retry until graded correct".
    """

    def __init__(self):
        super().__init__(max_attempts=2)

    def _feedback(self, step):
        return f"check failed: answer != {self.gold}"


class TableInDescription(Library):
    """The description of the tool gives examples of its results: the whole table. Source: made up."""

    def look_up(self, country: str) -> str:  # its description follows
        if country not in FACTS:
            raise ToolError("I know no such country.")
        return FACTS[country]

    look_up.__doc__ = "Look up the capital of a country. Examples: " + "; ".join(map(": ".join, FACTS.items())) + "."
    look_up = tool(look_up)


class StateInInfo(Sum):
    """The info of the reset holds the state of the episode, with the answer.

    Source: https://github.com/huggingface/OpenEnv/pull/611: the state that a client gets has the field `true_pathway`.
    """

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "state": {"terms": list(self.terms), "target": self.gold}}


class ErrorTellsAll(Guess):
    """A reply that is no number uses up a turn, and the text of the exception has the number. Source: made up."""

    def _junk(self):
        return Step.ongoing(f"TypeError: '<' not supported between instances of 'NoneType' and 'int' ({self.number})")


class Checksum(Sum):
    """The question has an identifier, which is the answer in base 64. Source: made up."""

    def _text(self):
        return f"{super()._text()}\nTask {base64.b64encode(str(self.gold).encode()).decode()}."
