"""A lean asynchronous client for `/chat/completions`: limits, timeouts and retries, in a fraction of a millisecond."""

import asyncio
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from gem.checks import check_int, finite
from gem.errors import ConfigError, MissingExtra
from gem.failure import one_line
from gem.llm.errors import AccessRefused, ContextExceeded, RequestRefused, ServerFault
from gem.rollout.transcript import Usage

OPENAI = "https://api.openai.com/v1"
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""The statuses of a server that may answer later."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and most before any; each wait is twice the one before, and up to a quarter less."""
MOST_BYTES = 64 * 2**20
"""Of a response."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer to one request."""

    message: Mapping[str, Any]
    """The assistant's message: `content`, and `tool_calls` if the model called tools."""
    finish_reason: str
    """`stop`, `length`, `tool_calls`, or another word of the server."""
    stop_reason: str | None
    """The text that ended the reply, which servers leave out of it; None if the server does not say so."""
    usage: Usage
    """Its tokens, 0 if the server does not count them; its time, and the requests that were made."""


class ChatClient:
    """Asks a chat API with OpenAI's protocol. All calls belong to one event loop.

    A server that fails, limits the rate, stalls or sends half an answer is asked again, after pauses that grow; a pause
    that the server asks for (`Retry-After`) holds for all calls. A call that waits for its retry does not count as
    concurrent.

    Args:
        base_url: the address before `/chat/completions`.
        api_key: of the account; servers of one's own need none.
        concurrency: most requests at once.
        timeout: seconds for one request, from sending it to the last byte of its answer.
        retries: requests after the first, for one call.
        headers: further HTTP headers.

    Raises:
        ConfigError: an argument is invalid.
        MissingExtra: aiohttp is not installed.
    """

    def __init__(
        self,
        base_url: str = OPENAI,
        *,
        api_key: str | None = None,
        concurrency: int = 64,
        timeout: float = 600.0,
        retries: int = 8,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base_url begins with http:// or https://, unlike {base_url!r}")
        try:
            import aiohttp
        except ImportError as error:
            raise MissingExtra(f"asking a chat API needs aiohttp ({error}): pip install 'gem-core[llm]'") from error
        self._aiohttp = aiohttp
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._retries = check_int("retries", retries, 0)
        self._timeout = finite("timeout", timeout)
        self.concurrency = check_int("concurrency", concurrency, 1)
        self._headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {api_key}"} if api_key else {}),
            **(headers or {}),
        }
        self._free = asyncio.Semaphore(self.concurrency)
        self._not_before = 0.0
        """Until then the server wants no request."""
        self._session: aiohttp.ClientSession | None = None
        self._jitter = random.Random()
        self.usage = Usage()
        """Tokens of all replies so far."""
        self.requests = 0
        """Requests so far, retries included."""

    async def chat(self, body: Mapping[str, Any]) -> ChatReply:
        """Ask for one reply; `body` is the JSON of the request: `model`, `messages` and what else the API takes.

        Raises:
            ServerFault: the server did not answer, retries included.
            RequestRefused: it refuses this request.
            ContextExceeded: the conversation is longer than the model's context.
            AccessRefused: it refuses every request.
        """
        data = json.dumps(body, ensure_ascii=False).encode()
        for attempt in range(1, self._retries + 2):
            try:
                async with self._free:
                    while (wait := self._not_before - time.monotonic()) > 0:
                        await asyncio.sleep(wait)
                    reply = await self._post(data, attempt)
            except _TryAgain as trouble:
                if attempt > self._retries:
                    times = "once" if attempt == 1 else f"{attempt} times"
                    raise ServerFault(f"{self._url} was asked {times} without an answer: {trouble}") from None
                if trouble.wait is not None:
                    self._not_before = max(self._not_before, time.monotonic() + trouble.wait)
                else:
                    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
                    await asyncio.sleep(longest * self._jitter.uniform(0.75, 1.0))
            else:
                self.usage += reply.usage
                return reply
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, data: bytes, attempt: int) -> ChatReply:
        aiohttp = self._aiohttp
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                connector=aiohttp.TCPConnector(limit=0),  # the semaphore limits requests
            )
        began = time.monotonic()
        self.requests += 1
        try:
            async with self._session.post(self._url, data=data) as response:
                content = await response.read()
        except TimeoutError:
            raise _TryAgain(f"no answer in {self._timeout:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _TryAgain(one_line(error)) from None
        if response.status == 200:
            return _read(content, time.monotonic() - began, attempt)
        raise _error_of(response.status, content, response.headers.get("Retry-After"), self._url)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class _TryAgain(Exception):
    """An attempt that failed in a way that another one may not; `wait` is the pause that the server asks for."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


def _read(content: bytes, seconds: float, attempt: int) -> ChatReply:
    try:
        answer = json.loads(content)
        choice = answer["choices"][0]
        message = choice["message"]
        if not isinstance(message, dict):
            raise TypeError("the message is not an object")
    except (ValueError, LookupError, TypeError) as error:
        raise _TryAgain(f"the answer is not a chat completion ({one_line(error)}): {content[:200]!r}") from None
    stopped_at = choice.get("stop_reason")
    return ChatReply(
        cast("Mapping[str, Any]", message),
        choice.get("finish_reason") or "stop",
        stopped_at if isinstance(stopped_at, str) else None,
        _usage(answer.get("usage"), seconds, attempt),
    )


def _usage(counted: Mapping[str, Any] | None, seconds: float, requests: int) -> Usage:
    counted = counted or {}
    of_prompt: Mapping[str, Any] = counted.get("prompt_tokens_details") or {}
    of_completion: Mapping[str, Any] = counted.get("completion_tokens_details") or {}
    return Usage(
        counted.get("prompt_tokens") or 0,
        counted.get("completion_tokens") or 0,
        of_prompt.get("cached_tokens") or 0,
        of_completion.get("reasoning_tokens") or 0,
        seconds,
        requests,
    )


def _error_of(status: int, content: bytes, retry_after: str | None, url: str) -> Exception:
    """The exception for an answer with another status than 200."""
    what = f"status {status}: {' '.join(content[:500].decode(errors='replace').split())}"
    if status in RETRIED:
        return _TryAgain(what, _seconds(retry_after))
    if status in (401, 403, 404, 405):
        return AccessRefused(f"{url} refuses every request; check the key, the model and the address. It says: {what}")
    if any(word in content for word in (b"context_length", b"context length", b"maximum context", b"max_model_len")):
        return ContextExceeded(what)
    return RequestRefused(f"{url} refuses this request: {what}")


def _seconds(retry_after: str | None) -> float | None:
    """The pause that a header asks for, if it is a number of seconds; it may also be a date, which is rare."""
    try:
        return min(LONGEST_WAIT, max(0.0, float(retry_after or "")))
    except ValueError:
        return None
