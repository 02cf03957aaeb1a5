"""The HTTP client of GEM: deadlines over whole answers, limits of bytes and of requests at once, and retries."""

import asyncio
import errno
import io
import os
import random
import ssl
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import json

from gem.checks import check_int, finite
from gem.errors import ConfigError, MissingExtra
from gem.http.answers import LONGEST_WAIT, Answer, Disconnected, NoAnswer, NotConnected, Unusable, if_not_busy
from gem.work.lifetime import after_fork
from gem.work.loops import shared_loop

if TYPE_CHECKING:
    import aiohttp

LARGEST = 32 * 2**20
"""Most bytes of an answer."""
FIRST_WAIT = 0.5
"""Seconds before the first retry; each wait is twice the one before, and up to a quarter less."""
RETRIES_OF_NOTHING = 2
"""Most retries where no server was ever reached: it is not overloaded, but not there."""
_AT_A_TIME = 2**20
"""Bytes that are sent without a pause in between for others."""
_IDLE = 2.0
"""Seconds that a connection is kept for the next request: servers close idle ones after 5 s or more, and a request that
is sent at that moment is lost."""

T = TypeVar("T")
_encode = JSONEncoder(ensure_ascii=False).encode


class HttpClient:
    """Requests to one server, asynchronous (`ask`, `aclose`) or not (`call`, `close`), but not both.

    The asynchronous calls belong to one event loop. Answers are not decompressed: a small one could fill the memory. A
    proxy of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) is used, but not for a server on this machine.

    A server that fails, limits the rate, stalls or sends half an answer is asked again, after pauses that grow; a pause
    that the server asks for (`Retry-After`) holds for all calls. A call that waits for its retry does not count as one
    of those at once. A rate limit does not use up retries as long as other calls are answered.

    Args:
        url: of the server, to which requests append a path.
        timeout: seconds for a request, from the connection to the last byte of its answer, redirects included.
        retries: requests after the first, for one call.
        at_once: most requests at once; more of them wait, and their time begins later.
        headers: of all requests, which otherwise say that they have JSON.
        cookies: keep those of the server, and send them back.
        redirects: follow those within the server. Without it, one is an answer.
        reuse: keep connections for further requests.
        socket: of a server on this machine that has no port.

    Raises:
        ConfigError: an argument is invalid.
        MissingExtra: aiohttp is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        retries: int = 0,
        at_once: int = 1024,
        headers: Mapping[str, str] | None = None,
        cookies: bool = False,
        redirects: bool = False,
        reuse: bool = True,
        socket: str | None = None,
    ) -> None:
        try:
            host = urlsplit(url).hostname if urlsplit(url).port != 0 else None
        except ValueError:  # such as a port that is not a number
            host = None
        if not url.startswith(("http://", "https://")) or not host:
            raise ConfigError(f"the address of a server is like http://localhost:8000 or https://…, not {url!r}")
        try:
            import aiohttp
        except ImportError as error:
            raise MissingExtra(f"requests by HTTP need aiohttp ({error}): pip install 'gem-core[http]'") from error
        self.url = url.rstrip("/")
        self.at_once = check_int("at_once", at_once, 1)
        self._aiohttp = aiohttp
        if finite("timeout", timeout) <= 0:
            raise ConfigError(f"timeout is a number of seconds above 0, not {timeout!r}")
        self._limit = self._limits(timeout)
        self._retries = check_int("retries", retries, 0)
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json", **(headers or {})}
        self._cookies, self._redirects, self._reuse, self._socket = cookies, redirects, reuse, socket
        self._proxy = None if socket else proxy_for(url)
        self._jitter = random.Random()
        self.reached = False
        """True once there was a server."""
        self.answered = 0
        """Calls so far that were answered."""
        self.repeated = 0
        """Requests so far that repeat another one, which had failed."""
        self._not_before = 0.0
        """Time until which the server wants no request, by `time.monotonic`."""
        self._session: aiohttp.ClientSession | None = None
        after_fork(self._in_child)

    async def ask(
        self,
        method: str,
        path: str = "",
        data: bytes | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        read: Callable[[Answer], T] = if_not_busy,
    ) -> T:
        """Send a request, and read the answer; the request is repeated where `read` raises `NoAnswer`.

        Args:
            method: such as `GET`.
            path: after the address of the server.
            data: the body of the request.
            query: fields of the address; messages leave them out.
            timeout: in place of the one of all requests.
            read: makes the result of an answer.

        Raises:
            NoAnswer: the server has not answered, retries included.
            Unreachable: and it cannot be reached (`NotConnected`).
        """
        url = self.url + path + (f"?{urlencode(query)}" if query else "")
        failed, requests = 0, 0
        while True:
            before = self.answered
            requests += 1
            self._open()
            try:
                async with self._free:
                    while (wait := self._not_before - time.monotonic()) > 0:
                        await asyncio.sleep(wait * self._jitter.uniform(1.0, 1.1))
                    result = read(await self._request(method, url, data, timeout, requests))
                self.answered += 1
                return result
            except NoAnswer as trouble:
                if not (trouble.limited and self.answered > before):
                    failed += 1
                retries = self._retries if self.reached else min(self._retries, RETRIES_OF_NOTHING)
                if failed > retries or isinstance(trouble, Unusable):
                    trouble.requests = requests
                    raise
                await self._before_retry(trouble, failed)

    def call(self, method: str, path: str = "", data: bytes | None = None, **settings: Any) -> Answer:
        """The answer to a request (see `ask`), whatever its status, for code that is not asynchronous, in any thread.

        `NoAnswer` if there is none, retries included.
        """
        try:
            return shared_loop.call(self.ask(method, path, data, **settings))
        except NoAnswer as error:
            if error.answer is None:
                raise
            return error.answer

    async def aclose(self) -> None:
        """Close the connections, and forget the cookies. The next request opens others."""
        session = self._forget()
        if session is not None:
            await session.close()

    def close(self) -> None:
        """Do the same, for code that is not asynchronous."""
        if self._session is not None:
            with suppress(RuntimeError):  # the process ends, and its loops have
                shared_loop.call(self.aclose())

    async def _before_retry(self, trouble: NoAnswer, failed: int) -> None:
        self.repeated += 1
        if trouble.wait:
            self._not_before = max(self._not_before, time.monotonic() + trouble.wait)
        elif failed > 1 or trouble.wait is None:
            longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, failed - 1))
            await asyncio.sleep(longest * self._jitter.uniform(0.75, 1.0))

    def _limits(self, timeout: float) -> "aiohttp.ClientTimeout":
        # A server that accepts no connection in most of that time is unreachable. `inf`: not rounded to whole seconds.
        return self._aiohttp.ClientTimeout(total=timeout, sock_connect=0.9 * timeout, ceil_threshold=float("inf"))

    async def _request(self, method: str, url: str, data: bytes | None, timeout: float | None, requests: int) -> Answer:
        aiohttp, session, began = self._aiohttp, self._session, time.monotonic()
        assert session is not None
        limit = self._limits(timeout) if timeout else self._limit
        sent: Any = io.BytesIO(data) if data and len(data) > _AT_A_TIME else data
        try:
            async with session.request(
                method, url, data=sent, proxy=self._proxy, timeout=limit, allow_redirects=self._redirects
            ) as response:
                try:
                    body = await self._body(response)
                except (NoAnswer, TimeoutError, aiohttp.ClientError, OSError):
                    if response.status < 400:
                        raise
                    body = b""
                status, reason, seconds = response.status, response.reason or "", time.monotonic() - began
                return Answer(str(response.url), status, reason, response.headers, body, seconds, requests)
        # `from None`: errors of aiohttp name the whole address, and a key may be in it.
        except NoAnswer:
            raise
        except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            if not isinstance(getattr(error, "os_error", None), ConnectionResetError | BrokenPipeError):
                raise NotConnected(_reason(error)) from None
            raise self._disconnected() from None
        except TimeoutError:
            self.reached = True
            raise NoAnswer(f"timed out: no whole answer in {limit.total:g} s") from None
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError):
            raise self._disconnected() from None
        except aiohttp.TooManyRedirects:
            self.reached = True
            raise Unusable("it redirects too often") from None
        except aiohttp.ClientResponseError as error:
            self.reached = True
            raise NoAnswer(f"its answer is not HTTP ({_reason(error)})") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(_reason(error)) from None

    def _disconnected(self) -> Disconnected:
        self.reached = True
        return Disconnected("it ended the connection before its answer", wait=0)

    async def _body(self, response: "aiohttp.ClientResponse") -> bytes:
        self.reached = True
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unusable("its answer is compressed, which was not asked for")
        pieces: list[bytes] = []
        left = LARGEST
        while left >= 0 and (piece := await response.content.readany()):
            pieces.append(piece)
            left -= len(piece)
        if left < 0:
            raise Unusable(f"its answer has more than {LARGEST} bytes")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _open(self) -> None:
        if self._session is not None:
            return
        aiohttp, path = self._aiohttp, self._socket
        settings: dict[str, Any] = {"keepalive_timeout": _IDLE} if self._reuse else {"force_close": True}
        settings["limit"] = 0  # the semaphore limits requests
        redirects = aiohttp.TraceConfig()
        redirects.on_request_redirect.append(_stay)
        self._session = session = aiohttp.ClientSession(
            headers=self._headers,
            connector=aiohttp.UnixConnector(path, **settings) if path else aiohttp.TCPConnector(**settings),
            cookie_jar=aiohttp.CookieJar(unsafe=True) if self._cookies else aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trace_configs=[redirects] if self._redirects else None,
        )
        self._free = asyncio.Semaphore(self.at_once)
        self._close_lost = weakref.finalize(self, _close_in, asyncio.get_running_loop(), session)

    def _forget(self) -> "aiohttp.ClientSession | None":
        session, self._session = self._session, None
        if session is not None:
            self._close_lost.detach()
        return session

    def _in_child(self) -> None:
        """Leave the connections to the parent: closing them here would take them out of its loop."""
        _of_the_parent.append(self._forget())


_of_the_parent: list[Any] = []


def _close_in(loop: asyncio.AbstractEventLoop, session: "aiohttp.ClientSession") -> None:
    """Close a session that nobody can use any more."""
    if not loop.is_closed():
        asyncio.run_coroutine_threadsafe(session.close(), loop)


async def _stay(session: object, context: object, redirect: "aiohttp.TraceRequestRedirectParams") -> None:
    here, there = redirect.url, redirect.response.headers.get("Location", "")
    if urlsplit(urljoin(str(here), there))[:2] != urlsplit(str(here))[:2]:
        raise Unusable(f"it redirects to another server, {there:.200}")


def _reason(error: Exception) -> str:
    """Why there is no answer, without the address, and in the words of the operating system where it has any."""
    inner: object = getattr(error, "os_error", error)
    code = inner.errno if isinstance(inner, OSError) and not isinstance(inner, ssl.SSLError) else None
    if code is not None and code in errno.errorcode:
        return os.strerror(code)
    if isinstance(error, TimeoutError):
        return "it timed out"
    message = " ".join(str(getattr(inner, "message", inner)).split())
    return f"{type(inner).__name__}: {message:.200}"


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; None for one on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    here = host in ("localhost", "::1") or host.startswith("127.")
    if here or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = getproxies().get(parts.scheme)
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def encoded(value: Any) -> bytes:
    """JSON in UTF-8. Half of a surrogate pair, which UTF-8 cannot express, becomes a question mark."""
    try:
        return json.encode(value)
    except (UnicodeEncodeError, TypeError):  # or what only Python's JSON takes
        return _encode(value).encode(errors="replace")
