"""Any retriever over HTTP, for many clients at once: what `gemx search-server` runs."""

import asyncio
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Thread
from time import sleep

from gem.checks import whole_number
from gem.errors import MissingExtra
from gem_tools.listening import address, listen
from gem_tools.search.protocol import MOST_HITS, PATH, wire_of
from gem_tools.search.retriever import Hit, Retriever, SearchFault

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("to serve a search index: pip install 'gem-tools[server]'") from error

DEFAULT_TOPK = 3
_LARGEST_BODY = 1 << 20
"""Bytes of a request."""
_LARGEST_BATCH = 256
"""Queries that go to the retriever together."""


class Batches:
    """Takes to the retriever together what arrives together.

    While one batch is being searched for, in a thread, whatever else arrives waits and becomes the next batch. So
    a lone request waits for nobody, and the more clients there are, the larger the batches.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._waiting: list[tuple[Sequence[str], int, asyncio.Future[list[list[Hit]]]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        result: asyncio.Future[list[list[Hit]]] = asyncio.get_running_loop().create_future()
        self._waiting.append((queries, topk, result))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await result

    async def _work(self) -> None:
        while self._waiting:
            batch = self._next()
            queries = [query for asked, _, _ in batch for query in asked]
            try:
                found = await asyncio.to_thread(self._retriever.search, queries, max(topk for _, topk, _ in batch))
            except Exception as fault:
                for _, _, result in batch:
                    if not result.done():
                        result.set_exception(fault)
                continue
            start = 0
            for asked, topk, result in batch:
                if not result.done():
                    result.set_result([hits[:topk] for hits in found[start : start + len(asked)]])
                start += len(asked)
        self._worker = None

    def _next(self) -> list[tuple[Sequence[str], int, asyncio.Future[list[list[Hit]]]]]:
        """The longest waiting, as many as a batch may hold, and at least one."""
        size = taken = 0
        for queries, _, _ in self._waiting:
            size += len(queries)
            if taken and size > _LARGEST_BATCH:
                break
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return batch


def app(retriever: Retriever, *, topk: int = DEFAULT_TOPK) -> Starlette:
    """The ASGI application: `POST /retrieve` in either form of `gem_tools.search.protocol`, and `GET /health`.

    A request that is in neither form gets status 400 and says what is wrong with it; one that is too large gets 413;
    where the retriever itself gets no answer from a search engine, 502. Bodies of these are `{"error": "…"}`.

    Args:
        retriever: whose hits to serve.
        topk: how many hits a client gets that does not say.

    Raises:
        ConfigError: topk is out of range.
    """
    whole_number("topk", topk, 1, MOST_HITS)
    batches = Batches(retriever)

    async def retrieve(http: HttpRequest) -> Response:
        body = bytearray()
        async for chunk in http.stream():
            body += chunk
            if len(body) > _LARGEST_BODY:
                return _error(413, f"a request has at most {_LARGEST_BODY} bytes")
        wire = wire_of(bytes(body))
        try:
            request = wire.read_request(bytes(body))
        except ValueError as error:
            return _error(400, str(error))
        try:
            results = await batches.search(request.queries, request.topk or topk)
        except SearchFault as fault:
            return _error(502, str(fault))
        return Response(wire.write_reply(request, results), media_type=wire.content_type)

    async def health(http: HttpRequest) -> Response:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route(PATH, retrieve, methods=["POST"]), Route("/health", health)])


def serve(retriever: Retriever, listening: socket.socket, *, topk: int = DEFAULT_TOPK) -> None:
    """Serve on this socket until Ctrl-C or SIGTERM, then let the requests under way end."""
    _server(retriever, topk).run([listening])


@contextmanager
def serving(retriever: Retriever, *, topk: int = DEFAULT_TOPK) -> Generator[str]:
    """A server in a thread of this process, as long as the block runs; yields its address.

    Raises:
        RuntimeError: it does not start.
    """
    server = _server(retriever, topk)
    with listen("127.0.0.1", 0) as listening:
        thread = Thread(target=server.run, args=([listening],), name="search server")
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise RuntimeError("the search server did not start; its log says why")
                sleep(0.005)
            yield address(listening, PATH)
        finally:
            server.should_exit = True
            thread.join()


def _server(retriever: Retriever, topk: int) -> uvicorn.Server:
    settings = uvicorn.Config(
        app(retriever, topk=topk), log_level="warning", access_log=False, ws="none", lifespan="off"
    )
    return uvicorn.Server(settings)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)
