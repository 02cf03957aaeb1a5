"""Connections that never become a session, or have been refused one, do not keep clients from playing."""

import json
import socket
import time
from contextlib import ExitStack, suppress

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from gem.http import client_timeouts, entrance
from gem_interop.serve.app import EnvServer
from gem_interop.serve.envs import ServedEnvs
from gem_interop.serve.server import serving
from gem_interop.serve.sessions import Limits

HANG_LIMIT = 30
MOST = 10
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.fixture
def url(monkeypatch, request):
    monkeypatch.setattr(client_timeouts, "MOST_WAITING", MOST)
    monkeypatch.setattr(client_timeouts, "PATIENCE", patience := getattr(request, "param", 0.05))
    if patience < HANG_LIMIT:
        monkeypatch.setattr(entrance, "MOST_WAITING", MOST)
    with serving(EnvServer(ServedEnvs(["serve_envs:Odd"]), Limits(sessions=2))) as url:
        yield url


def open_after(connections, most):
    """How many the server has left open, once it has closed all but so many."""
    until = time.monotonic() + HANG_LIMIT
    while True:
        left = 0
        for each in connections:
            each.setblocking(False)
            try:
                while each.recv(4096):
                    pass
            except BlockingIOError:
                left += 1
            except OSError:
                pass
        if left <= most or time.monotonic() > until:
            return left
        time.sleep(0.01)


def ask(client, kind, **data):
    client.send(json.dumps({"type": kind, "data": data}))
    return json.loads(client.recv(timeout=HANG_LIMIT))["type"]


def plays(address):
    with suppress(ConnectionClosed), connect(address, proxy=None) as client:
        return ask(client, "reset") == "observation"
    return False


@pytest.mark.parametrize("first", [b"", b"POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", UPGRADE])
def test_of_many_connections_that_wait_for_their_client_the_oldest_are_ended(url, first):
    """Idle, in the middle of a request, and after the refusal of a session, whose client does not close."""
    host, port = url.removeprefix("http://").split(":")
    at = f"ws://{host}:{port}/ws"
    with ExitStack() as opened:
        playing = [opened.enter_context(connect(at, proxy=None)) for _ in range(2)]
        assert [ask(each, "reset") for each in playing] == ["observation"] * 2
        flood: list[socket.socket] = []
        for _ in range(100):
            flood.append(opened.enter_context(socket.create_connection((host, int(port)), HANG_LIMIT)))
            flood[-1].sendall(first)
        assert open_after(flood, MOST) <= MOST
        assert [ask(each, "step", message="x") for each in playing] == ["observation"] * 2
        playing[0].close()
        until = time.monotonic() + HANG_LIMIT
        while not plays(at):  # the session of a client that has left is free soon after
            assert time.monotonic() < until


@pytest.mark.parametrize("url", [HANG_LIMIT], indirect=True)
def test_clients_that_connect_all_at_once_and_then_ask_are_all_answered(url):
    host, port = url.removeprefix("http://").split(":")
    with ExitStack() as opened:
        clients = [
            opened.enter_context(socket.create_connection((host, int(port)), HANG_LIMIT)) for _ in range(5 * MOST)
        ]
        for each in clients:
            each.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert [each.recv(15) for each in clients] == [b"HTTP/1.1 200 OK"] * len(clients)
