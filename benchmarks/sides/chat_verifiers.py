"""verifiers' sides of `llm_client.py`: its rollouts with its client, and the OpenAI client that it makes alone.

verifiers 0.1 is the last version whose rollouts are coroutines in this process; its later ones start a program each.
"""

import asyncio
import logging

import verifiers as vf
from datasets import Dataset, disable_progress_bars
from sides.chat_latency import QUESTION, TURNS, report_after
from verifiers.clients.openai_chat_completions_client import OpenAIChatCompletionsClient
from verifiers.types import ClientConfig
from verifiers.utils.client_utils import setup_openai_client

ROLLOUTS = 40
"""More for each slot than there can be."""
logging.disable(logging.WARNING)
disable_progress_bars()


class Talk(vf.MultiTurnEnv):
    """Takes every answer."""

    async def env_response(self, messages, state, **kwargs):
        return [vf.UserMessage(content=QUESTION)]


def config(url):
    return ClientConfig(api_base_url=url, api_key_var="NONE")


def rollouts(url, episodes, seconds):
    """Play until the process ends."""
    questions = Dataset.from_list([{"question": QUESTION, "answer": ""}] * (ROLLOUTS * episodes))
    env = Talk(max_turns=TURNS, dataset=questions, rubric=vf.Rubric())
    quiet = {"on_start": lambda *_: None, "on_progress": lambda *_: None}
    client = OpenAIChatCompletionsClient(config(url))
    report_after(url, episodes, seconds)
    env.generate_sync(inputs=env.get_dataset(), client=client, model="any", max_concurrent=episodes, **quiet)


def client(url, episodes, seconds):
    """Ask until the process ends."""

    async def ask(client):
        while True:
            await client.chat.completions.create(model="any", messages=[{"role": "user", "content": QUESTION}])

    async def run():
        client = setup_openai_client(config(url))
        await asyncio.gather(*(ask(client) for _ in range(episodes)))

    report_after(url, episodes, seconds)
    asyncio.run(run())
