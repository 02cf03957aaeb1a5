"""The tools `search` and `fetch`."""

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from gem.checks import check_int
from gem.tool import Tool, ToolError, tool
from gem_tools.search.bm25 import BM25
from gem_tools.search.protocol import MOST_HITS, ProtocolName
from gem_tools.search.remote import Remote
from gem_tools.search.retriever import Hit, Retriever
from gem_tools.search.shared import shared_index

SEARCH_URL = "SEARCH_URL"
"""The environment variable with the address of a search server, named as in gem-llm."""
_LONGEST = 1000
"""Characters of a query; the rest is cut off."""


def search_tool(
    source: Retriever | str | Path | None = None,
    *,
    topk: int = 3,
    protocol: ProtocolName = "search-r1",
    max_concurrency: int | None = None,
) -> Tool:
    """The tool `search`: a query in, the best documents out, formatted as in gem-llm.

    A query without words, or without a hit, is answered with text that says so. A server or a search engine that does
    not answer raises a `gem.errors.Fault`, which ends the episode as failed. The tool is pure: results are cached.

    Args:
        source: what to search: the address of a search server; a JSONL file, also one of a package such as
            `"gem_envs_qa:corpus.jsonl"`, indexed once per process; any retriever.
            None is the server at the address in the environment variable SEARCH_URL, with gem-llm's protocol, or the
            corpus that ships if the variable is not set.
        topk: how many documents to show.
        protocol: of the server at an address. Ours have both.
        max_concurrency: how many searches may run at once; for search engines of the web.

    Returns:
        The same tool for the same address or file.
    """
    if source is None and SEARCH_URL in os.environ:
        source, protocol = os.environ[SEARCH_URL], "gem-llm"
    make = _make if source is None or isinstance(source, str | Path) else _make.__wrapped__
    return make(source, check_int("topk", topk, 1, MOST_HITS), protocol, max_concurrency)


def fetch_tool(source: BM25 | str | Path | None = None) -> Tool:
    """The tool `fetch`: the title or the id of a document in, the document out.

    An unknown title is answered with the nearest ones.

    Args:
        source: where the documents are: an index, a JSONL file, or None for the corpus that ships.
    """
    return _fetch(source)


@cache
def _make(
    source: Retriever | str | Path | None,
    topk: int,
    protocol: ProtocolName,
    max_concurrency: int | None,
) -> Tool:
    retriever = _opener(source, protocol)

    @tool(name="search", pure=True, max_concurrency=max_concurrency)
    def search(query: str) -> str:
        """Search a collection of documents; you are shown those that match your query best.

        Args:
            query: the words to search for, such as a name.
        """
        words = _clean(query)
        if not any(map(str.isalnum, words)):
            raise ToolError("The query has no words. Say what to search for.")
        (hits,) = retriever().search([words], topk)
        if not hits:
            return "No document matches this query. Try other words."
        return "\n".join(_shown(number, hit) for number, hit in enumerate(hits, 1))

    return search


@cache
def _fetch(source: BM25 | str | Path | None) -> Tool:
    @tool(name="fetch", pure=True)
    def fetch(title: str) -> str:
        """Read a document whose title you know.

        Args:
            title: its title, or its id.
        """
        index = source if isinstance(source, BM25) else shared_index(source)
        name = _clean(title).strip()
        document = index.corpus.find(name)
        if document is None:
            raise ToolError(_unknown(name, index))
        return f"{document.title}\n{document.text}"

    return fetch


def _opener(source: Retriever | str | Path | None, protocol: ProtocolName) -> Callable[[], Retriever]:
    """A function that opens the retriever when it is first needed."""
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        remote = Remote(source, protocol=protocol)
        return lambda: remote
    if source is None or isinstance(source, str | Path):
        return partial(shared_index, source)
    return lambda: source


def _unknown(name: str, index: BM25) -> str:
    (hits,) = index.search([name], 3)
    near = [hit.document.title for hit in hits] or index.corpus.near(name)
    hint = f" The nearest are: {'; '.join(near)}." if near else ""
    return f"There is no document with the title {name[:100]!r}.{hint}"


def _clean(text: str) -> str:
    # JSON can hold half a surrogate pair, which cannot be encoded.
    return text[:_LONGEST].encode("utf-8", "replace").decode()


def _shown(number: int, hit: Hit) -> str:
    return f"Doc {number}(Title: {hit.document.title}) {hit.document.text}"
