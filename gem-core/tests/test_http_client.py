"""`gem.http.client` against servers that are slow, large, hostile or gone."""

import contextlib
import gc
import gzip
import os
import socket
import struct
import sys
import traceback
from itertools import chain, count, repeat
from threading import Thread
from time import monotonic, sleep

import pytest

from gem.errors import ConfigError, MissingExtra, Unreachable
from gem.http.answers import Disconnected, NoAnswer, NotConnected
from gem.http.client import HttpClient, proxy_for

HANG_LIMIT = 30
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
BOMB = gzip.compress(bytes(2**26))
COMPRESSED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB


class Server:
    """A socket whose clients each get `pieces(request)` for every request; keeps the requests and the connections."""

    def __init__(self, pieces, pause=0.0, path=None):
        self.pieces, self.pause, self.path = pieces, pause, path
        self.requests, self.connections, self.ended = [], 0, 0

    def __enter__(self):
        if self.path is None:
            self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
            self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        else:
            self.listening = socket.socket(socket.AF_UNIX)
            self.listening.bind(self.path)
            self.listening.listen()
            self.url = "http://localhost"
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listening.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                self.connections += 1
                Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            while request := client.recv(1 << 16):
                self.requests.append(request.decode(errors="replace"))
                for piece in self.pieces(self.requests[-1]):
                    client.sendall(piece)
                    sleep(self.pause)
                    if piece is RESET:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    if piece is CUT or piece is RESET:
                        return
        self.ended += 1


CUT, RESET = bytearray(), bytearray()
"""End the connection, in order and not."""


def until(condition):
    end = monotonic() + HANG_LIMIT
    while not condition():
        assert monotonic() < end
        sleep(0.01)


def call(server, method="GET", path="", data=None, **settings):
    client = HttpClient(server.url, **{"timeout": HANG_LIMIT, **settings})
    try:
        return client.call(method, path, data)
    finally:
        client.close()


@pytest.mark.parametrize(
    "pieces",
    [
        repeat(b""),
        chain([b"HTTP/1.1 200 OK\r\n"], (b"X%d: y\r\n" % n for n in count())),
        repeat(b"HTTP/1.1 100 Continue\r\n\r\n"),
        chain([HEAD], repeat(b"x")),
        chain([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"], repeat(b"1\r\nx\r\n")),
    ],
    ids=["nothing", "headers", "interim answers", "a body", "chunks"],
)
def test_an_answer_that_trickles_in_ends_at_the_deadline(pieces):
    with Server(lambda _: pieces, pause=0.02) as server, pytest.raises(NoAnswer, match="timed out: no whole answer"):
        call(server, timeout=0.5)


@pytest.mark.parametrize(
    ("pieces", "kind", "why"),
    [
        (lambda: chain([b"HTTP/1.1 200 OK\r\n\r\n"], repeat(b"x" * 10_000)), NoAnswer, "more than 100000 bytes"),
        (lambda: [HEAD, bytes(200_000)], NoAnswer, "more than 100000 bytes"),
        (lambda: [COMPRESSED], NoAnswer, "is compressed, which was not asked for"),
        (lambda: chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"X: y\r\n")), NoAnswer, "Too many"),
        (lambda: [b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"], NoAnswer, "more than 8190 bytes"),
        (lambda: [b"SSH-2.0\r\n"], NoAnswer, "Bad status line"),
        (lambda: [CUT], Disconnected, "ended the connection"),
        (lambda: [HEAD[:-10], CUT], Disconnected, "ended the connection"),
        (lambda: [OK[:-1], CUT], NoAnswer, "not completed"),
    ],
)
def test_an_answer_that_cannot_be_used_is_one_clear_fault(pieces, kind, why, monkeypatch):
    monkeypatch.setattr("gem.http.client.LARGEST", 100_000)
    with Server(lambda _: pieces()) as server, pytest.raises(kind, match=why) as raised:
        call(server)
    assert len("".join(map(str, raised.value.args))) < 300


def test_what_is_not_asked_for_is_not_unpacked():
    """699 MB came out of 597 kB."""
    with Server(lambda _: [COMPRESSED.replace(b"Content-Encoding: gzip\r\n", b"")]) as server:
        assert call(server).body == BOMB
    assert "Accept-Encoding: identity" in server.requests[0]


def test_a_server_that_is_not_there_is_unreachable():
    with pytest.raises(Unreachable, match="Connection refused") as raised:
        HttpClient("http://127.0.0.1:9", timeout=HANG_LIMIT).call("GET")
    assert isinstance(raised.value, NotConnected)


def test_a_key_in_the_address_is_in_no_message():
    for pieces in ([b"nonsense\r\n\r\n"], [CUT], [HEAD, CUT]):
        with Server(lambda _, pieces=pieces: pieces) as server, pytest.raises(NoAnswer) as raised:
            HttpClient(server.url, timeout=HANG_LIMIT).call("GET", query={"key": "secret"})
        assert "key=secret" in server.requests[0]
        assert "secret" not in "".join(traceback.format_exception(raised.value, chain=True)).replace('"secret"', "")


def redirect(location):
    return [b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % location.encode()]


def test_what_is_not_http_is_told_from_a_server_that_is_not_there():
    with Server(lambda _: [b"nonsense\r\n\r\n"]) as server:
        client = HttpClient(server.url, timeout=HANG_LIMIT)
        with pytest.raises(NoAnswer, match="its answer is not HTTP") as raised:
            client.call("GET")
    assert not isinstance(raised.value, NotConnected)
    assert client.reached


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("body", [None, bytes(2**24)], ids=["without a body", "with one"])
@pytest.mark.parametrize("end", [CUT, RESET], ids=["closed", "reset"])
def test_a_server_that_breaks_the_first_connection_off_was_reached(scheme, body, end):
    with Server(lambda _: [end]) as server:
        client = HttpClient(server.url.replace("http", scheme), timeout=HANG_LIMIT)
        with pytest.raises(Disconnected, match="it ended the connection before its answer"):
            client.call("POST", data=body)
        client.close()
    assert client.reached


def test_redirects_are_followed_within_the_server_where_they_are_asked_for():
    with Server(lambda _: [OK]) as other:
        moves = {"/a": "/b", "/b": "c?d=1", "/away": f"{other.url}/x", "/round": "/round", "/scheme": "https://x/"}

        def pieces(request):
            path = request.split()[1]
            return redirect(moves[path]) if path in moves else [OK]

        with Server(pieces) as server:
            answer = call(server, path="/a", redirects=True)
            assert (answer.status, answer.url) == (200, f"{server.url}/c?d=1")
            for path, why in (
                ("/away", "another server"),
                ("/scheme", "another server"),
                ("/round", "redirects too often"),
            ):
                with pytest.raises(NoAnswer, match=why):
                    call(server, path=path, redirects=True)
            assert call(server, path="/a").status == 302
            assert str(call(server, path="/away")) == f"302 Found: moved to {other.url}/x"
    assert other.requests == []


def test_cookies_are_kept_where_they_are_asked_for_until_the_client_is_closed():
    def pieces(_):
        return [OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: session=7\r\n\r\n")]

    for cookies in (True, False):
        with Server(pieces) as server:
            client = HttpClient(server.url, timeout=HANG_LIMIT, cookies=cookies)
            for _ in range(2):
                client.call("GET")
            client.close()
            client.call("GET")
            client.close()
        assert ["session=7" in request for request in server.requests] == [False, cookies, False]


@pytest.mark.parametrize(("reuse", "connections"), [(True, 1), (False, 3)])
def test_a_connection_is_used_again_and_ends_with_its_client(reuse, connections):
    with Server(lambda _: [OK]) as server:
        client = HttpClient(server.url, timeout=HANG_LIMIT, reuse=reuse)
        assert [client.call("POST", "/", b"x" * 2**n).body for n in (1, 2, 21)] == [b"ok"] * 3
        assert server.connections == connections
        del client  # not closed
        gc.collect()
        until(lambda: server.ended == connections)


def test_a_socket_without_a_port_is_a_server(tmp_path):
    with Server(lambda _: [OK], path=str(tmp_path / "s")) as server:
        assert call(server, socket=server.path).body == b"ok"
        with pytest.raises(NotConnected, match="No such file"):
            call(server, socket=str(tmp_path / "other"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads
def test_a_forked_child_has_connections_of_its_own_and_the_parent_keeps_its():
    with Server(lambda _: [OK]) as server:
        client = HttpClient(server.url, timeout=HANG_LIMIT)
        assert client.call("GET").body == b"ok"
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os._exit(client.call("GET").body != b"ok")
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert client.call("GET").body == b"ok"
        assert server.connections == 2
        client.close()


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://api.openai.com/v1", {"https_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ("https://api.openai.com/v1", {"https_proxy": "proxy:3128"}, "http://proxy:3128"),
        ("http://models.lan:8000/v1", {"https_proxy": "http://proxy:3128"}, None),
        ("http://models.lan:8000/v1", {"http_proxy": "http://proxy:3128", "no_proxy": ".lan"}, None),
        ("http://127.0.0.1:8000/v1", {"http_proxy": "http://proxy:3128"}, None),
        ("http://localhost:8000/v1", {"http_proxy": "http://proxy:3128"}, None),
        ("http://[::1]:8000/v1", {"http_proxy": "http://proxy:3128"}, None),
    ],
)
def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(url, environ, proxy, monkeypatch):
    set_proxies(monkeypatch, environ)

    assert proxy_for(url) == proxy


def set_proxies(monkeypatch, environ):
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)


def test_requests_go_through_the_proxy(monkeypatch):
    with Server(lambda _: [OK]) as proxy:
        set_proxies(monkeypatch, {"http_proxy": proxy.url})
        client = HttpClient("http://models.lan:8000/v1", timeout=HANG_LIMIT)
        assert client.call("GET", "/models").body == b"ok"
        client.close()
    assert proxy.requests[0].startswith("GET http://models.lan:8000/v1/models HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("url", "settings", "why"),
    [
        ("localhost:8000", {}, "the address of a server is like"),
        ("ftp://a", {}, "the address of a server is like"),
        ("http://", {}, "the address of a server is like"),
        ("http://a:b", {}, "the address of a server is like"),
        ("http://a", {"timeout": 0}, "above 0"),
        ("http://a", {"timeout": float("inf")}, "finite"),
        ("http://a", {"at_once": 0}, "at_once"),
        ("http://a", {"retries": -1}, "retries"),
    ],
)
def test_settings_out_of_range_are_refused(url, settings, why):
    with pytest.raises(ConfigError, match=why):
        HttpClient(url, **{"timeout": 1.0, **settings})


def test_without_aiohttp_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(MissingExtra, match=r"pip install 'gem-core\[http\]'"):
        HttpClient("http://localhost", timeout=1.0)
