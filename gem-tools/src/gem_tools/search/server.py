"""Any retriever as an HTTP server for many clients: what `gemx search-server` runs."""

import asyncio
import socket
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager

from gem.checks import check_int
from gem.errors import Fault, MissingExtra
from gem.http import listening
from gem.http.pages import refusal_of_page
from gem_tools.search.protocol import MOST_HITS, MOST_QUERIES, PATH, limit, protocol_of
from gem_tools.search.retriever import Hit, Retriever

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from gem.http.client_timeouts import MOST_WAITING, TimedH11Protocol
except ImportError as error:
    raise MissingExtra(f"gemx search-server needs {error.name}: pip install 'gem-tools[server]'") from error

DEFAULT_TOPK = 3
_LARGEST_BODY = 1 << 20
"""Bytes of a request."""
_LARGEST_ANSWER = 16 << 20
"""Characters of the documents in an answer."""
_LARGEST_BATCH = 256
"""Queries that go to the retriever together."""
_MOST_WAITING = 16 * MOST_QUERIES
"""Queries that may wait; further ones are refused with status 503, after which clients try again."""


class QueueFull(Exception):
    """Too many queries are waiting."""


class _PendingRequest:
    """A request: its queries, and the hits found so far."""

    def __init__(self, queries: Sequence[str], topk: int) -> None:
        self.queries, self.topk = queries, topk
        self.taken = 0
        self.found: list[list[Hit]] = []
        self.result: asyncio.Future[list[list[Hit]]] = asyncio.get_running_loop().create_future()


class QueryBatcher:
    """Searches for queries in batches.

    While one batch is being searched for, in a thread, further queries wait and become the next batch. So a single
    request does not wait, and the more clients there are, the larger the batches. Every waiting request has one query
    in a batch before another has two, so a large request delays the others by at most one batch.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._waiting: deque[_PendingRequest] = deque()
        self._queries = 0
        self._worker: asyncio.Task[None] | None = None

    async def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """The hits of each query.

        Raises:
            QueueFull: too many queries are waiting.
            Fault: raised by the retriever.
        """
        if not queries:
            return []
        if self._queries + len(queries) > _MOST_WAITING:
            raise QueueFull
        pending = _PendingRequest(queries, topk)
        self._waiting.append(pending)
        self._queries += len(queries)
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await pending.result

    async def _work(self) -> None:
        while self._waiting:
            batch = self._next()
            queries = [query for _, query in batch]
            try:
                found = await asyncio.to_thread(
                    self._retriever.search, queries, max(pending.topk for pending, _ in batch)
                )
            except Exception as fault:
                for pending, _ in batch:
                    if not pending.result.done():
                        pending.result.set_exception(fault)
                        self._queries -= len(pending.queries) - pending.taken
                self._waiting = deque(pending for pending in self._waiting if not pending.result.done())
                continue
            for (pending, _), hits in zip(batch, found, strict=True):
                pending.found.append(hits[: pending.topk])
                if len(pending.found) == len(pending.queries) and not pending.result.done():
                    pending.result.set_result(pending.found)
        self._worker = None

    def _next(self) -> list[tuple[_PendingRequest, str]]:
        """The next batch: one query of each request in turn, up to the limit."""
        batch: list[tuple[_PendingRequest, str]] = []
        while self._waiting and len(batch) < _LARGEST_BATCH:
            pending = self._waiting.popleft()
            batch.append((pending, pending.queries[pending.taken]))
            pending.taken += 1
            if pending.taken < len(pending.queries):
                self._waiting.append(pending)
        self._queries -= len(batch)
        return batch


def app(retriever: Retriever, *, topk: int = DEFAULT_TOPK) -> Starlette:
    """The ASGI application: `POST /retrieve` in either protocol of `gem_tools.search.protocol`, and `GET /health`.

    Errors have the body `{"error": "…"}` and one of these statuses: 400 for a request that follows neither protocol or
    asks for too much, 403 for one that a page in a browser may have sent, 413 for one that is too large or whose answer
    would be, 503 if too many queries are waiting, 502 if a search engine behind the retriever does not answer.

    Args:
        retriever: what is searched.
        topk: hits per query for a client that does not say how many.

    Raises:
        ConfigError: topk is out of range.
    """
    check_int("topk", topk, 1, MOST_HITS)
    batcher = QueryBatcher(retriever)

    async def retrieve(http: HttpRequest) -> Response:
        if (refusal := refusal_of_page(http.headers)) is not None:
            return _error(403, refusal)
        body = bytearray()
        async for chunk in http.stream():
            body += chunk
            if len(body) > _LARGEST_BODY:
                return _error(413, f"a request has at most {_LARGEST_BODY} bytes")
        protocol = protocol_of(bytes(body))
        try:
            request = protocol.read_request(bytes(body))
        except ValueError as error:
            return _error(400, str(error))
        try:
            most = limit(len(request.queries), request.topk or topk)
            results = await batcher.search(request.queries, most)
        except ValueError as error:
            return _error(400, str(error))
        except QueueFull:
            return _error(503, "too many queries are waiting; try again later")
        except Fault as fault:
            return _error(502, str(fault))
        if sum(len(hit.document.title) + len(hit.document.text) for hits in results for hit in hits) > _LARGEST_ANSWER:
            return _error(413, f"the answer has more than {_LARGEST_ANSWER} characters; ask for fewer hits")
        # In a thread, because encoding a large answer would delay other clients.
        written = await asyncio.to_thread(protocol.write_reply, request, results)
        return Response(written, media_type=protocol.content_type)

    async def health(http: HttpRequest) -> Response:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route(PATH, retrieve, methods=["POST"]), Route("/health", health)])


def serve(retriever: Retriever, on: socket.socket, *, topk: int = DEFAULT_TOPK) -> None:
    """Serve on this socket until Ctrl-C or SIGTERM, then finish the requests under way."""
    _server(retriever, topk).run([on])


def serving(retriever: Retriever, *, topk: int = DEFAULT_TOPK) -> AbstractContextManager[str]:
    """Run a server in a thread of this process for the length of the block, which gets its address.

    Raises:
        RuntimeError: it does not start.
    """
    return listening.serving(_server(retriever, topk), PATH)


def _server(retriever: Retriever, topk: int) -> uvicorn.Server:
    settings = uvicorn.Config(
        app(retriever, topk=topk),
        http=TimedH11Protocol,
        backlog=MOST_WAITING,
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
    )
    return uvicorn.Server(settings)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)
