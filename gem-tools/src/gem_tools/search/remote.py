"""A search server (ours, gem-llm's or Search-R1's) as a retriever."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from gem.errors import ConfigError
from gem_tools.search.http import SearchHttpClient
from gem_tools.search.protocol import MOST_TOGETHER, PATH, PROTOCOLS, ProtocolName
from gem_tools.search.retriever import Hit


class Remote:
    """Asks the search server at an address, such as one that `gemx search-server` has started.

    Args:
        url: such as "http://127.0.0.1:8000/retrieve".
        protocol: the server's protocol; ours has both. See `gem_tools.search.protocol`.
        timeout: seconds to wait for a whole answer.
        retries: further attempts.
    """

    def __init__(
        self,
        url: str,
        *,
        protocol: ProtocolName = "search-r1",
        timeout: float = 5.0,
        retries: int = 3,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise ConfigError(f"the protocol of a search server is one of {', '.join(PROTOCOLS)}, not {protocol!r}")
        bare = urlsplit(url).path in ("", "/")
        hint = f". Did you mean {url.rstrip('/')}{PATH}?" if bare else ""
        self._protocol = PROTOCOLS[protocol]
        settings = {"hint": hint, "content_type": self._protocol.content_type}
        self._server = SearchHttpClient("the search server", url, timeout=timeout, retries=retries, **settings)

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """See `Retriever.search`."""
        found: list[list[Hit]] = []
        at_once = min(self._protocol.most_queries, max(1, MOST_TOGETHER // max(1, topk)))
        for start in range(0, len(queries), at_once):
            asked = queries[start : start + at_once]
            answer = self._server.ask(body=self._protocol.write_request(asked, topk))
            try:
                results = self._protocol.read_reply(answer)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise self._server.wrong(error) from error
            if len(results) != len(asked):
                raise self._server.wrong(f"{len(results)} results for {len(asked)} queries")
            found += [hits[:topk] for hits in results]
        return found
