"""The client of the newest verifiers, for `llm_client.py`.

It runs each rollout as a program that calls a server of its own, which has this client; only the client takes part.
"""

import asyncio

from sides.chat_latency import QUESTION, report_after
from verifiers.v1.clients.eval import EvalClient
from verifiers.v1.configs.client import BaseClientConfig
from verifiers.v1.dialects.chat import ChatDialect
from verifiers.v1.types import SamplingConfig


def client(url, episodes, seconds):
    """Ask until the process ends."""

    async def ask(client):
        dialect, sampling = ChatDialect(), SamplingConfig()
        while True:
            body = {"model": "any", "messages": [{"role": "user", "content": QUESTION}]}
            await client.get_response(dialect, body, sampling)

    async def run():
        client = EvalClient(BaseClientConfig(base_url=url, api_key_var="NONE"))
        await asyncio.gather(*(ask(client) for _ in range(episodes)))

    report_after(url, episodes, seconds)
    asyncio.run(run())
