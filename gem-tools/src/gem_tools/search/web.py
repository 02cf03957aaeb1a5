"""A web search engine as a retriever: SerpAPI, which needs an account."""

import json
import os
from collections.abc import Sequence
from contextlib import closing

from gem.errors import ConfigError
from gem.work.threads import Threads
from gem_tools.search.corpus import Document
from gem_tools.search.http import SearchHttpClient
from gem_tools.search.retriever import Hit

_AT_ONCE = 8
"""Concurrent queries of one call of `search`."""


class SerpApi:
    """Searches by SerpAPI. Hits have a title, a snippet and a link.

    Args:
        api_key: the account's key; None to read the variable SERPAPI_API_KEY.
        engine: one of SerpAPI's engines that give organic results, such as "google", "bing" or "duckduckgo".
        url: SerpAPI's address.
        timeout: seconds to wait for an answer.
        retries: further attempts.

    Source of the interface: https://serpapi.com/search-api.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        engine: str = "google",
        url: str = "https://serpapi.com/search",
        timeout: float = 20.0,
        retries: int = 3,
    ) -> None:
        key = api_key or os.environ.get("SERPAPI_API_KEY")
        if not key:
            raise ConfigError("SerpAPI needs the environment variable SERPAPI_API_KEY, or in Python api_key=…")
        self._server = SearchHttpClient("SerpAPI", url, timeout=timeout, retries=retries)
        self._fixed = {"api_key": key, "engine": engine, "output": "json"}

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """See `Retriever.search`."""
        with closing(Threads("gem-web-search", _AT_ONCE)) as threads:
            return threads.map(self._hits, queries, [topk] * len(queries))

    def _hits(self, query: str, topk: int) -> list[Hit]:
        body = self._server.ask(query={**self._fixed, "q": query, "num": str(topk)})
        try:
            answer = json.loads(body)
            trouble = answer.get("error")
            # SerpAPI reports an empty result as an error, too.
            if trouble is not None and "hasn't returned any results" not in trouble:
                raise self._server.wrong(trouble)
            found = answer.get("organic_results", [])[:topk]
            rows = [{"id": one["link"], "title": one["title"], "text": one.get("snippet", "")} for one in found]
            return [Hit(Document.of(row, ""), None) for row in rows]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._server.wrong(error) from error
