"""A lean asynchronous client for `/chat/completions`: limits, timeouts and retries, in a fraction of a millisecond."""

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from gem.checks import check_int, finite
from gem.errors import ConfigError, MissingExtra
from gem.failure import one_line
from gem.llm.answers import LONGEST_WAIT, ChatReply, read_reply, refusal
from gem.llm.errors import AccessRefused, ServerFault, TryAgain
from gem.rollout.transcript import Usage

OPENAI = "https://api.openai.com/v1"
CONCURRENCY = 64
"""The default of most requests at once."""
FIRST_WAIT = 0.5
"""Seconds before the first retry; each wait is twice the one before, and up to a quarter less."""
_as_json = json.JSONEncoder(ensure_ascii=False).encode
RETRIES_OF_NOTHING = 2
"""Retries where no server was ever reached: it is not overloaded, but not there."""


class ChatClient:
    """Asks a chat API with OpenAI's protocol. All calls belong to one event loop.

    A server that fails, limits the rate, stalls or sends half an answer is asked again, after pauses that grow; a pause
    that the server asks for (`Retry-After`) holds for all calls. A call that waits for its retry does not count as
    concurrent. A rate limit does not use up retries as long as other calls are answered. A proxy of the environment
    (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) is used, but not for a server on this machine.

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
        concurrency: int = CONCURRENCY,
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
        self._proxy = proxy_for(self._url)
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
        """The sum over all replies so far."""
        self.requests = 0
        """Requests so far, those without a reply included."""
        self.replies = 0
        """Replies so far."""
        self.repeated = 0
        """Requests so far that repeat another one, which had failed."""
        self._reached = False
        """Whether there is a server."""

    async def chat(self, body: Mapping[str, Any]) -> ChatReply:
        """Ask for one reply; `body` is the JSON of the request: `model`, `messages` and what else the API takes.

        Raises:
            ServerFault: the server did not answer, retries included.
            RequestRefused: it refuses this request.
            ContextExceeded: the conversation is longer than the model's context.
            AccessRefused: it refuses every request, or there is no server.
        """
        # Half of a surrogate pair, which UTF-8 cannot express, becomes a question mark.
        data = _as_json(body).encode(errors="replace")
        failed, requests = 0, 0
        while True:
            before = self.replies
            requests += 1
            try:
                async with self._free:
                    while (wait := self._not_before - time.monotonic()) > 0:
                        await asyncio.sleep(wait * self._jitter.uniform(1.0, 1.1))
                    reply = await self._post(data, list(body), requests)
            except TryAgain as trouble:
                if not (trouble.limited and self.replies > before):
                    failed += 1
                await self._before_retry(trouble, failed, requests)
            else:
                self.usage += reply.usage
                self.replies += 1
                return reply

    async def _before_retry(self, trouble: TryAgain, failed: int, requests: int) -> None:
        """Wait before the next request of a call.

        Raises:
            ServerFault, AccessRefused: there shall be none.
        """
        if not self._reached and failed > min(self._retries, RETRIES_OF_NOTHING):
            raise AccessRefused(f"there is no server at {self._url}: start it, or set base_url ({trouble})")
        if failed > self._retries:
            times = "once" if requests == 1 else f"{requests} times"
            raise ServerFault(f"{self._url} was asked {times} without an answer: {trouble}")
        self.repeated += 1
        if trouble.wait:
            self._not_before = max(self._not_before, time.monotonic() + trouble.wait)
        elif failed > 1 or trouble.wait is None:
            longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, failed - 1))
            await asyncio.sleep(longest * self._jitter.uniform(0.75, 1.0))

    async def _post(self, data: bytes, sent: Sequence[str], requests: int) -> ChatReply:
        aiohttp = self._aiohttp
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                connector=aiohttp.TCPConnector(limit=0),  # the semaphore limits requests
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        began = time.monotonic()
        self.requests += 1
        try:
            async with self._session.post(self._url, data=data, proxy=self._proxy, allow_redirects=False) as response:
                self._reached = True
                content = await response.read()
        except TimeoutError:
            self._reached = True
            raise TryAgain(f"no answer in {self._timeout:g} s") from None
        except aiohttp.ServerDisconnectedError as error:
            self._reached = True
            # Servers close connections that were idle for some seconds, and one may do so just now.
            raise TryAgain(one_line(error), wait=0) from None
        except (aiohttp.ClientError, OSError) as error:
            raise TryAgain(one_line(error)) from None
        if response.status == 200:
            return read_reply(content, self._url, sent, time.monotonic() - began, requests)
        raise refusal(response.status, content, response.headers, self._url, sent)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; None for one on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    here = host in ("localhost", "::1") or host.startswith("127.")
    if here or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme)
