"""verifiers' rollouts, for `vector.py`: coroutines in one event loop, each an episode of some turns.

verifiers 0.1 is the last version whose rollouts are coroutines in this process; its later ones start a program each.
"""

import asyncio
import time

import verifiers as vf
from datasets import Dataset
from verifiers.clients import Client
from verifiers.types import Response, ResponseMessage
from workloads import latencies

TURNS = 5
"""Steps of the env in a rollout."""


class Echo(Client):
    """A model that answers at once."""

    def setup_client(self, config):
        return None

    async def to_native_tool(self, tool):
        return tool

    async def to_native_prompt(self, messages):
        return messages, {}

    async def get_native_response(self, prompt, model, sampling_args, tools=None, **kwargs):
        message = ResponseMessage(role="assistant", content="", finish_reason="stop", is_truncated=False)
        return Response(id="0", created=0, model=model, message=message)

    async def raise_from_native_response(self, response):
        pass

    async def from_native_response(self, response):
        return response

    async def close(self):
        pass


class Work(vf.MultiTurnEnv):
    """An env that waits in each turn; whichever rollout has a slot waits as that slot does."""

    def __init__(self, kind, num_envs, steps):
        # Twice the steps of the job: like the other sides, the job ends when its steps are done, with others under way.
        questions = Dataset.from_list([{"question": "", "answer": ""}] * (2 * steps // TURNS))
        super().__init__(max_turns=TURNS + 1, dataset=questions, rubric=vf.Rubric())
        self.free = [latencies(kind, slot) for slot in range(num_envs)]
        self.missing = steps
        self.ended = None

    async def setup_state(self, state):
        state["waits"] = self.free.pop()

    async def env_response(self, messages, state, **kwargs):
        if self.missing > 0:
            await asyncio.sleep(next(state["waits"]))
            self.missing -= 1
            if self.missing == 0:
                self.ended = time.perf_counter()
        return [vf.UserMessage(content="")]

    @vf.cleanup
    async def give_back(self, state):
        self.free.append(state.pop("waits"))


def play(case):
    """Seconds until the job of `case` is done."""
    env = Work(case["kind"], case["num_envs"], case["steps"])
    inputs = env.get_dataset()
    quiet = {"on_start": lambda *_: None, "on_progress": lambda *_: None}
    started = time.perf_counter()
    env.generate_sync(inputs=inputs, client=Echo(None), model="echo", max_concurrent=case["num_envs"], **quiet)
    return env.ended - started
