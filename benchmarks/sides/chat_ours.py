"""Our sides of `llm_client.py`: the policy `openai` in a rollout, and its client alone."""

import asyncio
import itertools

from sides.chat_latency import QUESTION, TURNS, report_after

import gem
from gem.core import Step
from gem.llm import ChatClient, ChatPolicy
from gem.rollout import rollout


class Talk(gem.TurnEnv):
    """Takes every answer."""

    def __init__(self, max_turns=TURNS):
        super().__init__(max_turns=max_turns)

    def _reset(self, options):
        return QUESTION

    def _step(self, action):
        return Step.final("", 1.0, success=True) if self.last_turn else Step.ongoing(QUESTION)

    def sample_action(self):
        return "Hats."


def rollouts(url, episodes, seconds):
    """Play until the process ends."""
    policy = ChatPolicy("any", base_url=url, concurrency=episodes)
    with gem.make_vec("sides.chat_ours:Talk", episodes) as envs:
        report_after(url, episodes, seconds)
        for _ in rollout(policy, envs, itertools.count()):
            pass


def client(url, episodes, seconds):
    """Ask until the process ends."""

    async def ask(client):
        while True:
            await client.chat({"model": "any", "messages": [{"role": "user", "content": QUESTION}]})

    async def run():
        client = ChatClient(url, concurrency=episodes)
        await asyncio.gather(*(ask(client) for _ in range(episodes)))

    report_after(url, episodes, seconds)
    asyncio.run(run())
