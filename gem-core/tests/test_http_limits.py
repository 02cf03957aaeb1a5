"""Answers by HTTP that trickle in, or that never end."""

import contextlib
import http.client
import socket
from collections.abc import Iterator
from itertools import chain, repeat
from threading import Thread
from time import sleep

import pytest

from gem import http_limits
from gem.http_limits import Limited

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
PATIENCE = 30


@contextlib.contextmanager
def saying(pieces: Iterator[bytes], pause: float) -> Iterator[int]:
    """A server for one client, which says these pieces with a pause after each; yields its port."""

    def serve() -> None:
        client, _ = listening.accept()
        with client, contextlib.suppress(OSError):
            client.recv(1 << 16)
            for piece in pieces:
                client.sendall(piece)
                sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.mark.parametrize(
    "pieces",
    [repeat(b""), chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"X: y\r\n")), chain([HEAD], repeat(b"x"))],
    ids=["nothing", "headers", "a body"],
)
def test_an_answer_that_trickles_in_ends_at_the_timeout(pieces: Iterator[bytes]) -> None:
    pieces = (piece for _, piece in zip(range(80), pieces, strict=False))
    with saying(pieces, 0.02) as port:
        connection = Limited("127.0.0.1", port, timeout=0.3)
        connection.request("GET", "/")
        with pytest.raises(TimeoutError):
            connection.getresponse().read()
        connection.close()


def test_an_answer_that_never_ends_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "LARGEST", 100_000)
    endless = chain([b"HTTP/1.1 200 OK\r\n\r\n"], repeat(b"x" * 10_000))
    with saying(endless, 0) as port:
        connection = Limited("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/")
        with pytest.raises(OSError, match="more than 100000 bytes"):
            connection.getresponse().read()
        connection.close()


def test_a_connection_is_used_again_and_the_limits_begin_anew() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = Limited("127.0.0.1", listening.getsockname()[1], timeout=PATIENCE)
        connection.connect()
        client, _ = listening.accept()
        with client:
            for _ in range(3):
                connection.request("GET", "/")
                client.recv(1 << 16)
                client.sendall(answer)
                response = connection.getresponse()
                assert isinstance(response, http.client.HTTPResponse)
                assert response.read() == b"ok"
                assert connection.left == http_limits.LARGEST - len(answer)
        connection.close()
