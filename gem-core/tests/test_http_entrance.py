"""Clients without a request wait at the entrance of a server, at no cost to the others; on Linux."""

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from gem.http.listening import listen
from gem.work.loops import EventLoop

if sys.platform != "linux":
    pytest.skip("the entrance is made of epoll", allow_module_level=True)

from gem.http import entrance

HANG_LIMIT = 30
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
HALVES = {
    "nothing": (b"", POST + b"\r\n"),
    "half a line": (b"POS", b"T / HTTP/1.1\r\n\r\n"),
    "half a head": (POST + b"Content-Len", b"gth: 0\r\n\r\n"),
    "half a body": (POST + b"content-length: 9\r\n\r\n12345678", b"9"),
    "half a chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12", b"345\r\n0\r\nTrailer: y\r\n\r\n"),
}


class Counted:
    """A server that answers each connection with all that can be read at once."""

    def __init__(self) -> None:
        self.connections = 0
        self.listening = listen("127.0.0.1", 0)
        self.address = self.listening.getsockname()

    async def serve(self) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            writer.write(await reader.read(1 << 16))
            writer.close()

        async with await asyncio.start_server(answer, sock=self.listening) as server:
            await server.serve_forever()

    def connect(self, at: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(self.address, HANG_LIMIT, source_address=(at, 0))


@pytest.fixture
def server() -> Iterator[Counted]:
    loop, counted = EventLoop("counted"), Counted()
    loop.submit(counted.serve())
    yield counted
    loop.close()
    assert counted.listening.fileno() == -1
    assert not any(thread.name == "counted" for thread in threading.enumerate())


def ask(client: socket.socket, rest: bytes = POST + b"\r\n") -> bytes:
    client.sendall(rest)
    return client.recv(1 << 16)


@pytest.mark.parametrize("kind", HALVES)
def test_a_request_reaches_the_server_once_it_is_whole(server: Counted, kind: str) -> None:
    half, rest = HALVES[kind]
    with ExitStack() as opened:
        waiting = [opened.enter_context(server.connect()) for _ in range(20)]
        for each in waiting:
            each.sendall(half)
        assert ask(opened.enter_context(server.connect())) == POST + b"\r\n"
        assert server.connections == 1
        assert [ask(each, rest) for each in waiting] == [half + rest] * 20


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 100000\r\n\r\n" + b"x" * entrance._PEEK,
        b"GET /" + b"x" * entrance._PEEK,
        POST + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n",
    ],
    ids=["a long body", "a long head", "a client that waits for its permission"],
)
def test_the_rest_of_a_long_request_is_the_servers(server: Counted, sent: bytes) -> None:
    with server.connect() as client:
        assert sent.startswith(ask(client, sent))


@pytest.mark.parametrize("kind", HALVES)
def test_a_client_that_sends_half_a_request_and_no_more_is_ended_and_one_that_sent_a_whole_one_answered(
    server: Counted, kind: str
) -> None:
    half, _ = HALVES[kind]
    with server.connect() as leaving, server.connect() as asking:
        leaving.sendall(half)
        leaving.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # what was sent has not been read
            assert leaving.recv(1) == b""
        asking.sendall(POST + b"\r\n")
        asking.shutdown(socket.SHUT_WR)
        assert asking.recv(1 << 16) == POST + b"\r\n"
    assert server.connections == 1


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x00\xc3\x01\x00", b"\x00"], ids=["TLS", "a zero"])
def test_what_is_not_http_ends_at_the_entrance(server: Counted, sent: bytes) -> None:
    with server.connect() as client:
        client.sendall(sent)
        with suppress(ConnectionResetError):  # what was sent has not been read
            assert client.recv(1) == b""
    assert server.connections == 0


def test_of_too_many_the_oldest_is_ended_of_the_address_that_has_the_most(
    server: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "MOST_WAITING", 4)
    with ExitStack() as opened:
        other = opened.enter_context(server.connect("127.0.0.2"))
        flood = [opened.enter_context(server.connect()) for _ in range(10)]
        assert [each.recv(1) for each in flood[:7]] == [b""] * 7
        assert [ask(each) for each in (other, *flood[7:])] == [POST + b"\r\n"] * 4


@pytest.mark.parametrize("sent", [b"", b"G"])
def test_a_client_that_does_not_send_in_time_is_ended(
    server: Counted, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "FIRST_BYTE", 0.05)
    monkeypatch.setattr(entrance, "REQUEST", 0.05)
    with server.connect() as client:
        client.sendall(sent)
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
    assert server.connections == 0
