"""The two protocols between search clients and search servers.

| | body | request | reply |
|---|---|---|---|
| Search-R1 | JSON | `{"queries": [q, …], "topk": 3, "return_scores": true}` | `{"result": [[found, …], …]}` |
| gem-llm | msgpack | `{"query": q, "topk": 3, "return_scores": true}` | `{"result": [found, …]}` |

`found` is `{"document": document, "score": 1.5}`; without `return_scores` Search-R1 gives the document alone, and
gem-llm leaves out the score. A document is `{"id": …, "contents": "\\"title\\"\\ntext"}`; ours also have `title`
and `text`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

import msgspec
from pydantic import BaseModel, Field, TypeAdapter

from gem_tools.search.corpus import Document
from gem_tools.search.retriever import Hit

PATH = "/retrieve"
"""Path at which a search server answers, in both protocols."""

MOST_QUERIES = 1024
MOST_HITS = 1000
"""Hits of one query."""
MOST_TOGETHER = 10_000
"""Hits of all queries of a request."""
LONGEST_QUERY = 10_000
"""Characters. These four limit what one client can ask of a server at once."""

Query = Annotated[str, Field(max_length=LONGEST_QUERY)]

Topk = Annotated[int, Field(ge=1, le=MOST_HITS)]


class SearchRequest(BaseModel):
    """The queries of a request, in either protocol."""

    queries: list[Query] = Field(max_length=MOST_QUERIES)
    topk: Topk | None = None
    """Number of hits; None for the server's default."""
    return_scores: bool = False


class _GemLlmRequest(BaseModel):
    query: Query
    topk: Topk | None = None
    return_scores: bool = False


def limit(queries: int, topk: int) -> int:
    """`topk`, if a request may ask for so many hits.

    Raises:
        ValueError: it may not.
    """
    if queries * topk > MOST_TOGETHER:
        raise ValueError(
            f"{queries} queries with topk {topk} ask for {queries * topk} hits, and a request may ask for "
            f"{MOST_TOGETHER}: send fewer queries at once"
        )
    return topk


class _FoundDocument(BaseModel):
    document: dict[str, Any]
    score: float | None = None

    def hit(self) -> Hit:
        return Hit(Document.of(self.document, self.document.get("title", "")), self.score)


_REPLY = TypeAdapter(dict[str, list[list[_FoundDocument]]])
_GEM_LLM_REPLY = TypeAdapter(dict[str, list[_FoundDocument]])


class SearchProtocol(Protocol):
    """Requests and replies as bytes. Reading raises `ValueError` if the bytes do not follow the protocol."""

    content_type: str
    most_queries: int
    """Number of queries that fit into one request."""

    def write_request(self, queries: Sequence[str], topk: int) -> bytes: ...
    def read_request(self, body: bytes) -> SearchRequest: ...
    def write_reply(self, request: SearchRequest, results: Sequence[Sequence[Hit]]) -> bytes: ...
    def read_reply(self, body: bytes) -> list[list[Hit]]: ...


class SearchR1Protocol:
    content_type = "application/json"
    most_queries = MOST_QUERIES

    def write_request(self, queries: Sequence[str], topk: int) -> bytes:
        return SearchRequest(queries=list(queries), topk=topk, return_scores=True).model_dump_json().encode()

    def read_request(self, body: bytes) -> SearchRequest:
        return SearchRequest.model_validate_json(body)

    def write_reply(self, request: SearchRequest, results: Sequence[Sequence[Hit]]) -> bytes:
        rows = [[_row(hit) if request.return_scores else _document(hit) for hit in hits] for hits in results]
        return _to_json({"result": rows})

    def read_reply(self, body: bytes) -> list[list[Hit]]:
        return [[found.hit() for found in hits] for hits in _REPLY.validate_json(body)["result"]]


class GemLlmProtocol:
    content_type = "application/msgpack"
    most_queries = 1

    def write_request(self, queries: Sequence[str], topk: int) -> bytes:
        (query,) = queries
        return msgspec.msgpack.encode({"query": query, "topk": topk, "return_scores": True})

    def read_request(self, body: bytes) -> SearchRequest:
        asked = _GemLlmRequest.model_validate(_unpack(body))
        return SearchRequest(queries=[asked.query], topk=asked.topk, return_scores=asked.return_scores)

    def write_reply(self, request: SearchRequest, results: Sequence[Sequence[Hit]]) -> bytes:
        rows = [_row(hit if request.return_scores else Hit(hit.document, None)) for hit in results[0]]
        return msgspec.msgpack.encode({"result": rows})

    def read_reply(self, body: bytes) -> list[list[Hit]]:
        return [[found.hit() for found in _GEM_LLM_REPLY.validate_python(_unpack(body))["result"]]]


ProtocolName = Literal["search-r1", "gem-llm"]

PROTOCOLS: dict[ProtocolName, SearchProtocol] = {"search-r1": SearchR1Protocol(), "gem-llm": GemLlmProtocol()}


def protocol_of(body: bytes) -> SearchProtocol:
    """The protocol of a request: JSON objects begin with a brace or white space, msgpack's maps never do."""
    return PROTOCOLS["search-r1" if body[:1] in b"{ \t\r\n" else "gem-llm"]


def _document(hit: Hit) -> dict[str, str]:
    document = hit.document
    return {"id": document.id, "title": document.title, "text": document.text, "contents": document.contents}


def _row(hit: Hit) -> dict[str, Any]:
    return {"document": _document(hit), "score": hit.score}


_to_json = TypeAdapter(dict[str, Any]).dump_json


def _unpack(body: bytes) -> Any:
    try:
        return msgspec.msgpack.decode(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is neither a JSON object nor msgpack: {error!r}") from error
