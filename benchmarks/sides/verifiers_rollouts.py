"""verifiers' rollouts, for `vector.py`: coroutines in one event loop, each an episode of some turns.

verifiers 0.1 is the last version whose rollouts are coroutines in this process; its later ones start a program each.
"""

import asyncio

import verifiers as vf
from datasets import Dataset
from verifiers.clients import Client
from verifiers.types import Response, ResponseMessage
from workloads import EPISODE, MEAN, Window, latencies


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

    def __init__(self, kind, num_envs):
        self.window = Window(kind)
        # As many rollouts as there can be until the window closes, and one for each slot that is then under way.
        steps = num_envs * (self.window.warm_up + 2 * self.window.seconds) / MEAN[kind]
        questions = Dataset.from_list([{"question": "", "answer": ""}] * (num_envs + round(steps / EPISODE)))
        super().__init__(max_turns=EPISODE + 1, dataset=questions, rubric=vf.Rubric())
        self.free = [latencies(kind, slot) for slot in range(num_envs)]
        self.started = False

    async def setup_state(self, state):
        state["waits"] = self.free.pop()

    async def env_response(self, messages, state, **kwargs):
        if not self.started:  # what the library sets up before its first step does not count
            self.started = True
            self.window.start()
        if self.window.counted is None:
            await asyncio.sleep(next(state["waits"]))
            self.window.arrived(1)
        return [vf.UserMessage(content="")]

    @vf.stop
    async def closed(self, state):
        return self.window.counted is not None

    @vf.cleanup
    async def give_back(self, state):
        self.free.append(state.pop("waits"))


def play(case):
    """The steps of `case`, counted."""
    env = Work(case["kind"], case["num_envs"])
    inputs = env.get_dataset()
    quiet = {"on_start": lambda *_: None, "on_progress": lambda *_: None}
    env.generate_sync(inputs=inputs, client=Echo(None), model="echo", max_concurrent=case["num_envs"], **quiet)
    return env.window.counted
