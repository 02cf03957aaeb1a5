r"""A chat server on this machine with OpenAI's protocol, for tests: it answers by a function, and fails as it is told.

```python
from gem.testing.chat_server import Trouble, chat_server

with chat_server(lambda messages: "\\boxed{7}", Trouble(fail=0.2)) as server:
    policy = ChatPolicy("any", base_url=server.url)
```

It needs the extra `http` of gem-core.
"""

import asyncio
import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gem.errors import MissingExtra
from gem.work.loops import EventLoop

if TYPE_CHECKING:
    from aiohttp import web

Answer = Callable[[Sequence[Mapping[str, Any]]], str | Mapping[str, Any]]
"""From the messages of a request to the text of the reply, or to fields of the `choice` in the response."""


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, as shares of the requests; the rest is answered after `latency` seconds."""

    fail: float = 0.0
    """Status 500."""
    limit: float = 0.0
    """Status 429 with `Retry-After`."""
    truncate: float = 0.0
    """The connection ends in the middle of the answer."""
    stall: float = 0.0
    """No answer until the client gives up."""
    garble: float = 0.0
    """Status 200 with something that is not JSON."""
    error: float = 0.0
    """Status 200 with an error in place of a reply."""
    hang_up: float = 0.0
    """The connection ends instead of an answer."""
    retry_after: float = 0.01
    """Seconds of that header."""
    latency: Callable[[random.Random], float] = lambda rng: 0.0
    """Seconds before an answer, drawn from a generator."""
    seed: int = 0
    """Of what goes wrong, and of the latencies."""


@dataclass
class ChatServer:
    """What a server has seen so far."""

    url: str
    """The `base_url` for clients."""
    requests: int = 0
    """Requests that arrived."""
    answered: int = 0
    """Requests that were answered in full."""
    now: int = 0
    """Requests in progress."""
    most: int = 0
    """Most requests that were ever in progress at once."""
    troubles: dict[str, int] = field(default_factory=dict[str, int])
    """Kind of trouble → how often it was made."""
    bodies: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """The JSON of every request."""


@contextmanager
def chat_server(
    answer: Answer, trouble: Trouble | None = None, *, tools: bool = True, schemas: bool = True
) -> Generator[ChatServer]:
    """Serve `/v1/chat/completions` on a free port while the context is open.

    Args:
        answer: makes the replies.
        trouble: what goes wrong.
        tools: False refuses requests with tools, as vLLM does without a parser for their calls.
        schemas: False refuses requests with a `response_format`, as older servers do.

    Raises:
        MissingExtra: aiohttp is not installed.
    """
    try:
        from aiohttp import web
    except ImportError as error:
        raise MissingExtra(f"the chat server needs aiohttp ({error}): pip install 'gem-core[http]'") from error

    state = ChatServer("")
    handler = _Handler(answer, trouble or Trouble(), state, {"tools": tools, "response_format": schemas})

    async def serve() -> web.AppRunner:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", handler.handle)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        host, port = runner.addresses[0][:2]
        state.url = f"http://{host}:{port}/v1"
        return runner

    loop = EventLoop("gem-chat-server")
    runner = loop.call(serve())
    try:
        yield state
    finally:
        loop.call(runner.cleanup())
        loop.close()


_KINDS = ("fail", "limit", "truncate", "stall", "garble", "error", "hang_up")
_ERRORS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "fail": (500, {"message": "the server is on fire"}),
    "limit": (429, {"message": "slow down"}),
    "error": (200, {"code": 502, "message": "the provider is down"}),
}
_REFUSALS = {
    "tools": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "response_format": "'response_format' of type 'json_schema' is not supported with this model",
}
"""Field of a request → what a server says that does not take it."""
_PASSES = 5
"""Of the event loop, in which it notices connections that clients have closed."""


class _Handler:
    """Answers one request, or does not."""

    def __init__(self, answer: Answer, trouble: Trouble, state: ChatServer, takes: Mapping[str, bool]) -> None:
        self._answer, self._trouble, self._state, self._takes = answer, trouble, state, takes
        self._rng = random.Random(trouble.seed)
        shares = {kind: getattr(trouble, kind) for kind in _KINDS}
        self._kinds = [*shares, ""]
        self._weights = [*shares.values(), 1.0 - sum(shares.values())]

    async def handle(self, request: "web.Request") -> "web.StreamResponse":
        state = self._state
        for _ in range(_PASSES):  # a request that its client has given up before this one does not count any more
            await asyncio.sleep(0)
        state.requests += 1
        state.now += 1
        state.most = max(state.most, state.now)
        try:
            return await self._respond(request)
        finally:
            state.now -= 1

    async def _respond(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        body = await request.json()
        self._state.bodies.append(body)
        for name, said in _REFUSALS.items():
            if name in body and not self._takes[name]:
                return web.json_response({"object": "error", "code": 400, "message": said}, status=400)
        [kind] = self._rng.choices(self._kinds, self._weights)
        if kind:
            self._state.troubles[kind] = self._state.troubles.get(kind, 0) + 1
        if kind == "stall":
            await asyncio.sleep(3600)
        await asyncio.sleep(self._trouble.latency(self._rng))
        if kind in _ERRORS:
            status, error = _ERRORS[kind]
            after = {"Retry-After": str(self._trouble.retry_after)} if kind == "limit" else None
            return web.json_response({"error": error}, status=status, headers=after)
        if kind == "garble":
            return web.Response(text="<html>not JSON</html>")
        assert request.transport is not None
        if kind == "hang_up":
            request.transport.close()
            return web.Response()
        content = json.dumps(self._completion(body)).encode()
        if kind == "truncate":
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            response.content_length = len(content)
            await response.prepare(request)
            await response.write(content[: len(content) // 2])
            request.transport.close()
            return response
        self._state.answered += 1
        return web.Response(body=content, content_type="application/json")

    def _completion(self, body: Mapping[str, Any]) -> dict[str, Any]:
        reply = self._answer(body["messages"])
        fields = {"message": {"role": "assistant", "content": reply}} if isinstance(reply, str) else dict(reply)
        text = str(fields["message"].get("content") or "")
        prompt = sum(len(str(message.get("content")).split()) for message in body["messages"])
        said = len(text.split())
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", **fields}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
        }
