"""The ASGI application: the WebSocket of OpenEnv, and the same by HTTP."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any

from gem import __version__
from gem.errors import MissingExtra
from gem_interop.serve.access import Access
from gem_interop.serve.envs import ServedEnvs
from gem_interop.serve.protocol import SCHEMAS, Code, Refused, dump, error_of, message_of, parse, text_of
from gem_interop.serve.sessions import ClientSession, ClientSessions, Limits

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as error:
    raise MissingExtra(f"gemx serve needs starlette ({error}): pip install 'gem-interop[serve]'") from error

log = logging.getLogger("gem.serve")

_STATUS: dict[Code, int] = {"CAPACITY_REACHED": 503, "SESSION_ERROR": 404, "EXECUTION_ERROR": 409}
_OPEN_TO_ALL = "/health"


class EnvServer:
    """A server of environments; `app` is its ASGI application.

    By WebSocket at `/ws`, a connection is a session. By HTTP, `POST /reset` begins one and names it in its metadata;
    the `session_id` goes into the body of every `/step`, `/close` and further `/reset`, and into the query of `/state`.

    Args:
        envs: what clients may play.
        limits: what they may take.
        token: what they have to know; None for nothing.

    Raises:
        ConfigError: the token is too short.
    """

    def __init__(self, envs: ServedEnvs, limits: Limits, token: str | None = None) -> None:
        self.sessions = ClientSessions(envs, limits)
        """Sessions of its clients."""
        self._limits = limits
        self._access = Access(token)
        self._background: set[asyncio.Task[None]] = set()
        """Kept here, because asyncio does not keep its tasks."""
        routes = [
            WebSocketRoute("/ws", self._websocket),
            Route("/reset", self._reset, methods=["POST"]),
            Route("/step", self._step, methods=["POST"]),
            Route("/close", self._close, methods=["POST"]),
            Route("/state", self._state),
            Route("/schema", self._schema),
            Route("/metadata", self._metadata),
            Route("/list_environments", self._list),
            Route(_OPEN_TO_ALL, self._health),
        ]
        inner = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers={HTTPException: _no_such_page})
        self.app: ASGIApp = self._guarded(inner)

    def _guarded(self, inner: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] in ("http", "websocket") and scope["path"] != _OPEN_TO_ALL:
                refusal = self._access.refusal(HTTPConnection(scope).headers)
                if refusal is not None:
                    status, text = refusal
                    log.warning("refused %s: %s", _client(scope), text)
                    response = _error("SESSION_ERROR", text, status)
                    if scope["type"] == "websocket":
                        await WebSocket(scope, receive, send).send_denial_response(response)
                    else:
                        await response(scope, receive, send)
                    return
            await inner(scope, receive, send)

        return answer

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            await self.sessions.close()

    async def _watch(self) -> None:
        """End the sessions that are idle."""
        while True:
            await asyncio.sleep(min(5.0, self._limits.idle / 4))
            self.sessions.expire()

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # By WebSocket

    async def _websocket(self, websocket: WebSocket) -> None:
        await websocket.accept()
        why = "left"
        session: ClientSession | None = None
        try:
            if "session_id" in websocket.query_params:
                raise Refused("SESSION_ERROR", "a session begun elsewhere cannot be joined: each connection is one")
            session = await self.sessions.begin(_client(websocket.scope))
            session.on_idle = lambda: self._start(self._expire(websocket))
            await self._converse(websocket, session)
        except Refused as refused:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await websocket.send_text(text_of("error", error_of(refused.code, str(refused))))
                await websocket.close()
        except WebSocketDisconnect as error:
            why = f"left ({error.code})"
        except asyncio.CancelledError:  # the server stops, and its env has not answered in time
            why = "cut off in a call of its env"
        finally:
            if session is not None:
                session.on_idle = None
                await self.sessions.end(session, why)

    async def _converse(self, websocket: WebSocket, session: ClientSession) -> None:
        """Answer message by message, until the client closes."""
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            try:
                kind, data = message_of(message.get("text") or message.get("bytes") or "")
                if kind == "close":
                    await websocket.close()
                    return
                if kind == "state":
                    answer = text_of("state", session.state())
                elif kind == "reset":
                    answer = text_of("observation", await session.reset(data))
                else:
                    answer = text_of("observation", await session.step(data))
            except Refused as refused:
                answer = text_of("error", error_of(refused.code, str(refused)))
            await websocket.send_text(answer)

    async def _expire(self, websocket: WebSocket) -> None:
        text = f"the session ended: no message for {self._limits.idle:g} s"
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await websocket.send_text(text_of("error", error_of("SESSION_ERROR", text)))
            await websocket.close(1001)

    # By HTTP

    async def _reset(self, request: Request) -> Response:
        async def reset(data: dict[str, Any]) -> dict[str, Any]:
            if "session_id" in data:
                return await self._session(data.pop("session_id")).reset(data)
            session = await self.sessions.begin(_client(request.scope))
            session.on_idle = lambda: self._start(self.sessions.end(session, "idle"))
            try:
                answer = await session.reset(data)
            except BaseException:
                await self.sessions.end(session, "did not begin")
                raise
            answer["metadata"]["session_id"] = session.id
            return answer

        return await self._answered(request, reset)

    async def _step(self, request: Request) -> Response:
        async def step(data: dict[str, Any]) -> dict[str, Any]:
            session = self._session(data.get("session_id"))
            action = data.get("action")
            if not isinstance(action, dict):
                raise Refused("VALIDATION_ERROR", 'a step is {"session_id": …, "action": {"message": TEXT}}')
            return await session.step(action)

        return await self._answered(request, step)

    async def _close(self, request: Request) -> Response:
        async def close(data: dict[str, Any]) -> dict[str, Any]:
            await self.sessions.end(self._session(data.get("session_id")), "closed")
            return {}

        return await self._answered(request, close)

    async def _state(self, request: Request) -> Response:
        try:
            return JSONResponse(self._session(request.query_params.get("session_id")).state())
        except Refused as refused:
            return _refusal(refused)

    def _session(self, id: object) -> ClientSession:
        session = self.sessions.open.get(id) if isinstance(id, str) else None
        if session is None:
            raise Refused("SESSION_ERROR", "there is no session with this session_id; POST /reset begins one")
        return session

    async def _answered(self, request: Request, act: Any) -> Response:
        try:
            return Response(dump(await act(parse(await self._body(request)))), media_type="application/json")
        except Refused as refused:
            return _refusal(refused)
        except asyncio.CancelledError:
            return _error("SESSION_ERROR", "the server stops", 503)

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > self._limits.message_bytes:
                raise Refused("VALIDATION_ERROR", f"a body has at most {self._limits.message_bytes} bytes")
        return bytes(body) or b"{}"

    async def _schema(self, request: Request) -> Response:
        return JSONResponse(SCHEMAS)

    async def _metadata(self, request: Request) -> Response:
        ids = self.sessions.envs.ids
        what = ids[0] if len(ids) == 1 else f"{len(ids)} environments, chosen by the id of a reset"
        return JSONResponse({"name": "gem", "description": f"GEM: {what}", "version": __version__})

    async def _list(self, request: Request) -> Response:
        return JSONResponse(self.sessions.envs.ids)

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "healthy"})


async def _no_such_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error("UNKNOWN_TYPE", f"{request.method} {request.url.path}: {error.detail}", error.status_code)


def _client(scope: Scope) -> str:
    return "{}:{}".format(*scope["client"]) if scope.get("client") else "a client"


def _refusal(refused: Refused) -> Response:
    return _error(refused.code, str(refused), _STATUS.get(refused.code, 422))


def _error(code: Code, message: str, status: int) -> Response:
    return JSONResponse(error_of(code, message), status_code=status)
