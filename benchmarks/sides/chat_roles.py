"""What `benchmarks/roles.py` plays: an env, and a reward, that ask the model of the role `judge`."""

from sides import chat_ours
from sides.chat_latency import QUESTION

import gem
from gem.core import Step

TURNS = 4
SAID = '{"reason": "Hats are worn on heads.", "points": 7}'
"""What the server says to everybody: it fits the schema of the judge."""
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "points": {"type": "integer", "minimum": 0, "maximum": 10}},
    "required": ["reason", "points"],
}


def asked(text):
    return [{"role": "system", "content": "How good is it, from 0 to 10?"}, {"role": "user", "content": text}]


class Talk(chat_ours.Talk):
    """The same with another reward."""

    def __init__(self, max_turns=TURNS):
        super().__init__(max_turns=max_turns)

    def _step(self, action):
        return self.step_of(0.0)

    def step_of(self, reward):
        return Step.final("", reward, success=True) if self.last_turn else Step.ongoing(QUESTION, reward)


class Judged(Talk):
    """Asks the judge in every step."""

    def __init__(self, max_turns=TURNS):
        super().__init__(max_turns=max_turns)
        self.judge = gem.chat_model("judge")

    def _step(self, action):
        return self.step_of(self.judge.ask_sync(asked(action), schema=SCHEMA).value["points"] / 10)


@gem.reward
async def good(answer: str) -> float:
    """The judge's points of the last answer."""
    answered = await gem.chat_model("judge").ask(asked(answer), schema=SCHEMA)
    return answered.value["points"] / 10
