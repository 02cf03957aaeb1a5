"""A tiny model behind vLLM's protocol for token ids, `/inference/v1/generate`, from which verifiers trains."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from aiohttp import web
from samples import tiny_model, tokenizer

SPECIAL = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
"""Tokens that the renderers of Qwen3 need beside those of ChatML."""


@dataclass
class Asked:
    """One request."""

    session: str
    """Its rollout."""
    prompt: list[int]
    said: list[int]
    logprobs: list[float]


@dataclass
class TokenServer:
    url: str
    tokenizer: str
    """A folder with the tokenizer."""
    model: torch.nn.Module
    longest: int | None = None
    """Most ids of a context."""
    asked: list[Asked] = field(default_factory=list)

    def sample(self, ids: list[int], most: int, ends: list[int]) -> tuple[list[int], list[float]]:
        said: list[int] = []
        logprobs: list[float] = []
        while len(said) < most and not (said and said[-1] in ends):
            with torch.no_grad():
                scores = self.model(torch.tensor([ids + said])).logits[0, -1].float().log_softmax(-1)
            said.append(int(torch.multinomial(scores.exp(), 1)))
            logprobs.append(float(scores[said[-1]]))
        return said, logprobs

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": self.tokenizer, "max_model_len": self.longest}]})

    async def generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        asked = body["sampling_params"]
        said, logprobs = await asyncio.to_thread(
            self.sample, body["token_ids"], asked["max_tokens"], asked["stop_token_ids"]
        )
        self.asked.append(Asked(request.headers["X-Session-ID"], body["token_ids"], said, logprobs))
        content = [{"token": f"token_id:{id}", "logprob": lp} for id, lp in zip(said, logprobs, strict=True)]
        reason = "stop" if said[-1] in asked["stop_token_ids"] else "length"
        choice = {"index": 0, "token_ids": said, "logprobs": {"content": content}, "finish_reason": reason}
        return web.json_response({"request_id": str(len(self.asked)), "choices": [choice]})


@contextmanager
def token_server(folder: str, longest: int | None = None) -> Generator[TokenServer]:
    """Serve until the end of the block; `folder` is for the tokenizer."""
    tokens = tokenizer()
    tokens.add_special_tokens({"additional_special_tokens": SPECIAL})
    tokens.save_pretrained(folder)
    model = tiny_model()
    model.resize_token_embeddings(len(tokens))
    server = TokenServer("", folder, model.eval(), longest)
    app = web.Application()
    app.router.add_get("/v1/models", server.models)
    app.router.add_post("/inference/v1/generate", server.generate)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app)

    async def start() -> str:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return site.name

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server.url = asyncio.run_coroutine_threadsafe(start(), loop).result(30) + "/v1"
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
