"""HTTP requests to a search server: pooled connections, deadlines, retries, and clear faults."""

from collections.abc import Mapping
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError

from gem.errors import ConfigError
from gem.http_limits import Limited
from gem_tools.search.retriever import SearchFault, SearchUnreachable

_CONNECTIONS = 64
"""At once; further threads wait."""
_TRANSIENT = (429, 500, 502, 503, 504)
"""Statuses after which the request is repeated."""
_NOT_FOUND = 404
_LONGEST_WAIT = 10.0
"""Seconds between two attempts at most, even if a server requests more."""
_NO_QUERY: Mapping[str, str] = {}


class _LimitedHttp(Limited, HTTPConnection):
    pass


class _LimitedHttps(Limited, HTTPSConnection):
    pass


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls: Any = _LimitedHttp


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls: Any = _LimitedHttps


class _Pools(urllib3.PoolManager):
    """urllib3's, with limits on the time and the bytes of an answer."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}


class SearchHttpClient:
    """Requests to one address. Searching changes nothing, so every request may be repeated.

    Args:
        name: what messages call it.
        url: the server's address.
        timeout: seconds to wait for a connection, and again for a whole answer.
        retries: further attempts, after 0.1, 0.2, 0.4 … seconds, if there is no answer or a transient error.
        hint: added to the message of status 404.
    """

    def __init__(self, name: str, url: str, *, timeout: float = 5.0, retries: int = 3, hint: str = "") -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"the address of {name} begins with http:// or https://, unlike {url!r}")
        self.url = url
        self._name, self._hint = name, hint
        self._pool = _Pools(
            maxsize=_CONNECTIONS,
            block=True,
            timeout=timeout,
            retries=urllib3.Retry(
                total=retries,
                backoff_factor=0.1,
                backoff_max=_LONGEST_WAIT,
                retry_after_max=int(_LONGEST_WAIT),
                status_forcelist=_TRANSIENT,
                allowed_methods=None,
                raise_on_status=False,
            ),
        )

    def ask(self, *, query: Mapping[str, str] = _NO_QUERY, body: bytes | None = None, content_type: str = "") -> bytes:
        """The body of the answer to a GET with `query`, or to a POST of `body`.

        Raises:
            SearchFault: there is no answer, or its status is not 200. The message leaves out `query`, which may hold a
                key.
        """
        try:
            if body is None:
                answer = self._pool.request("GET", self.url, fields=dict(query), decode_content=False)
            else:
                headers = {"Content-Type": content_type}
                answer = self._pool.request("POST", self.url, body=body, headers=headers, decode_content=False)
        except HTTPError as error:
            # The text of a MaxRetryError has the whole address, key included; its reason does not.
            reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
            kind = SearchUnreachable if isinstance(reason, ConnectTimeoutError) else SearchFault
            raise kind(f"{self._name} at {self.url} does not answer: {reason}") from reason
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            # A small answer may unpack to one that fills the memory.
            raise self.wrong("it is compressed, which was not asked for")
        if answer.status != 200:
            text = answer.data[:300].decode(errors="replace")
            hint = self._hint if answer.status == _NOT_FOUND else ""
            raise SearchFault(f"{self._name} at {self.url} answers {answer.status}: {text}{hint}")
        return answer.data

    def wrong(self, why: Exception | str) -> SearchFault:
        """The fault to raise for an answer that does not follow the protocol."""
        return SearchFault(f"{self._name} at {self.url} answers with something else than results: {why}")
