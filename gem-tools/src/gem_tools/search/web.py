"""Web search engines as retrievers: SerpAPI, and Google's Custom Search. Both need an account."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from gem.errors import ConfigError
from gem.work.threads import Threads
from gem_tools.search.corpus import Document
from gem_tools.search.http import SearchHttpClient
from gem_tools.search.retriever import Hit

_AT_ONCE = 8
"""Concurrent queries of one call of `search`."""


class _Engine(ABC):
    """A search engine with GET requests and JSON answers. Hits have a title, a snippet and a link."""

    name: str
    items: str
    """Place of the list of hits in an answer."""

    def __init__(self, url: str, *, timeout: float, retries: int) -> None:
        self._server = SearchHttpClient(self.name, url, timeout=timeout, retries=retries)

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        with closing(Threads("gem-web-search", _AT_ONCE)) as threads:
            return threads.map(self._hits, queries, [topk] * len(queries))

    @abstractmethod
    def _query(self, query: str, topk: int) -> Mapping[str, str]:
        """The parameters of the request."""

    @abstractmethod
    def _error_in(self, answer: Mapping[str, Any]) -> str | None:
        """The error that an answer with status 200 reports, if any."""

    def _hits(self, query: str, topk: int) -> list[Hit]:
        body = self._server.ask(query=self._query(query, topk))
        try:
            answer = json.loads(body)
            if trouble := self._error_in(answer):
                raise self._server.wrong(trouble)
            found = answer.get(self.items, [])[:topk]
            rows = [{"id": one["link"], "title": one["title"], "text": one.get("snippet", "")} for one in found]
            return [Hit(Document.of(row, ""), None) for row in rows]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._server.wrong(error) from error


class SerpApi(_Engine):
    """Searches by SerpAPI.

    Args:
        api_key: the account's key; None to read the variable SERPAPI_API_KEY.
        engine: one of SerpAPI's engines that give organic results, such as "google", "bing" or "duckduckgo".
        url: SerpAPI's address.
        timeout: seconds to wait for an answer.
        retries: further attempts.

    Source of the interface: https://serpapi.com/search-api.
    """

    name = "SerpAPI"
    items = "organic_results"

    def __init__(
        self,
        api_key: str | None = None,
        *,
        engine: str = "google",
        url: str = "https://serpapi.com/search",
        timeout: float = 20.0,
        retries: int = 3,
    ) -> None:
        super().__init__(url, timeout=timeout, retries=retries)
        key = _secret(self.name, "api_key", api_key, "SERPAPI_API_KEY")
        self._fixed = {"api_key": key, "engine": engine, "output": "json"}

    def _query(self, query: str, topk: int) -> Mapping[str, str]:
        return {**self._fixed, "q": query, "num": str(topk)}

    def _error_in(self, answer: Mapping[str, Any]) -> str | None:
        # SerpAPI reports an empty result as an error, too.
        error = answer.get("error")
        return None if error is None or "hasn't returned any results" in error else error


class Google(_Engine):
    """Searches by the Custom Search JSON API of Google, which gives at most ten hits.

    Args:
        api_key: the account's key; None to read the variable GOOGLE_API_KEY.
        engine_id: the search engine's id ("cx"); None to read the variable GOOGLE_CSE_ID.
        url: the API's address.
        timeout: seconds to wait for an answer.
        retries: further attempts.

    Source of the interface: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list.
    """

    name = "Google"
    items = "items"

    def __init__(
        self,
        api_key: str | None = None,
        engine_id: str | None = None,
        *,
        url: str = "https://www.googleapis.com/customsearch/v1",
        timeout: float = 20.0,
        retries: int = 3,
    ) -> None:
        super().__init__(url, timeout=timeout, retries=retries)
        key = _secret(self.name, "api_key", api_key, "GOOGLE_API_KEY")
        self._fixed = {"key": key, "cx": _secret(self.name, "engine_id", engine_id, "GOOGLE_CSE_ID")}

    def _query(self, query: str, topk: int) -> Mapping[str, str]:
        return {**self._fixed, "q": query, "num": str(min(topk, 10))}

    def _error_in(self, answer: Mapping[str, Any]) -> str | None:
        return None


def _secret(engine: str, argument: str, given: str | None, variable: str) -> str:
    value = given or os.environ.get(variable)
    if not value:
        raise ConfigError(f"{engine} needs the environment variable {variable}, or in Python {argument}=…")
    return value
