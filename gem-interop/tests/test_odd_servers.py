"""Servers of environments that answer with something else: each answer is one clear failure of one episode."""

import json
import re
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import sleep

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import serve
from websockets.utils import accept_key

import gem
from gem.errors import ConfigError
from gem.rollout import rollout
from gem.work.loops import EventLoop

HANG_LIMIT = 30
SCHEMA = {"action": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}}
ASKED = json.dumps({"type": "observation", "data": {"observation": {"text": "Say something."}}})


def observed(**fields):
    return json.dumps(
        {"type": "observation", "data": {"observation": {"text": "x"}, "reward": 1, "done": True, **fields}}
    )


OPENENV = {
    "no object": "[]",
    "no JSON": "hello",
    "deep": "[" * 100_000,
    "a type that is a number": '{"type": 5, "data": {}}',
    "data that are null": '{"type": "observation", "data": null}',
    "an observation that is null": observed(observation=None),
    "a reward that is a text": observed(reward="x"),
    "a reward beyond all floats": observed(reward=10**400),
    "a reward that is NaN": observed(reward=float("nan")),
    "done that is an object": observed(done={}),
    "an error with a code that is a list": '{"type": "error", "data": {"code": [], "message": {}}}',
    "an unknown type": '{"type": "what", "data": {}}',
}
NEMO = {
    "no object": "[]",
    "no JSON": "hello",
    "deep": "[" * 100_000,
    "no reward": "{}",
    "a reward that is null": '{"reward": null}',
    "a reward beyond all floats": '{"reward": 1' + "0" * 400 + "}",
    "a reward that is NaN": '{"reward": NaN}',
    "an observation that is a number": '{"reward": 1, "observation": 5}',
    "terminated that is a text": '{"reward": 1, "terminated": "x"}',
    "a deep info": '{"reward": 1, "terminated": true, "info": ' + "[" * 900 + "]" * 900 + "}",
}


@contextmanager
def openenv(answer: str, schema_said: object = SCHEMA) -> Generator[str]:
    """A server of OpenEnv that answers this to each step."""

    def handle(connection):
        for message in connection:
            connection.send(ASKED if json.loads(message)["type"] == "reset" else answer)

    def schema(connection, request):
        if request.path == "/ws":
            return None
        body = json.dumps(schema_said).encode()
        return Response(
            200, "OK", Headers({"Content-Type": "application/json", "Content-Length": str(len(body))}), body
        )

    with serve(handle, "127.0.0.1", 0, process_request=schema) as server, in_thread(server):
        yield f"openenv:http://127.0.0.1:{server.socket.getsockname()[1]}"


@contextmanager
def nemo(answer: str) -> Generator[str]:
    """A resources server of NeMo Gym that answers this to each step."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known = {"/openapi.json": '{"paths": {"/reset": {}, "/step": {}}}', "/step": answer}
            body = known.get(self.path, '{"observation": "Say something."}').encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, in_thread(server, 0.01):
        yield f"nemo:http://127.0.0.1:{server.server_port}"


@contextmanager
def in_thread(server, *settings):
    async def run():
        server.serve_forever(*settings)

    loop = EventLoop("odd-server")
    ended = loop.submit(run())
    try:
        yield
    finally:
        server.shutdown()
        ended.result()
        loop.close()


@pytest.mark.parametrize(
    ("server", "answer"),
    [
        *(pytest.param(openenv, answer, id=f"openenv: {name}") for name, answer in OPENENV.items()),
        *(pytest.param(nemo, answer, id=f"nemo: {name}") for name, answer in NEMO.items()),
    ],
)
def test_an_odd_answer_is_a_clear_failure_of_its_episode(server, answer):
    with server(answer) as id, gem.make_vec(id, 1, env_kwargs={"timeout": 5, "patience": 0}) as envs:
        [episode] = rollout(lambda transcript: "hi", envs, [0], max_turns=2)

    assert episode.failure is not None
    assert episode.failure.error.startswith("ServerFault: http://127.0.0.1:")
    assert "\n" not in episode.failure.error
    assert len(episode.failure.error) < 500


@pytest.mark.parametrize("properties", [5, {"a": {"enum": 5}}, {"a": 5}])
def test_a_schema_that_is_none_is_refused_before_anything_is_played(properties):
    schema = {"action": {"type": "object", "properties": properties}}
    with openenv("{}", schema) as id, pytest.raises(ConfigError, match="is not a JSON schema of an action"):
        gem.make(id, timeout=5, patience=0)


def pings(connection):
    while True:
        connection.sendall((b"\x89\x7d" + b"x" * 125) * 500)


def answer_to_the_reset(connection):
    connection.sendall(b"\x81" + bytes([len(ASKED)]) + ASKED.encode())


def no_byte_more(connection):
    answer_to_the_reset(connection)
    Event().wait()


def a_byte_at_a_time(connection):
    answer_to_the_reset(connection)
    while connection.recv(1):
        sleep(0.001)


def pings_after_an_answer(connection):
    answer_to_the_reset(connection)
    pings(connection)


@contextmanager
def reading_little(behave) -> Generator[str]:
    """A server of OpenEnv that speaks HTTP, and behaves in its own way once it has a WebSocket."""

    def serve(connection):
        with connection, suppress(OSError):
            request = connection.recv(1 << 16).decode()
            if "/schema" in request:
                body = json.dumps(SCHEMA).encode()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                return
            key = re.search(r"Sec-WebSocket-Key: (\S+)", request)[1]
            head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            connection.sendall(f"{head}Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode())
            behave(connection)

    def accept():
        with suppress(OSError):
            while True:
                Thread(target=serve, args=[listening.accept()[0]], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=accept, daemon=True).start()
        yield f"openenv:http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("behave", [pings, no_byte_more, a_byte_at_a_time, pings_after_an_answer])
def test_a_server_that_does_not_read_what_it_is_sent_is_one_failure(behave):
    """The client's thread that answers pings is blocked then, with the lock that sending and a close need."""
    with reading_little(behave) as id, gem.make_vec(id, 1, env_kwargs={"timeout": 1, "patience": 0}) as envs:
        [episode] = rollout(lambda transcript: "hi" * 2**23, envs, [0], max_turns=2)

    assert re.match(r"ServerFault: http://127\.0\.0\.1:\d+ did not answer within 1 s", episode.failure.error)


def test_an_env_is_closed_although_its_server_does_not_read():
    full = Event()

    def behave(connection):
        answer_to_the_reset(connection)
        connection.settimeout(0.3)
        with suppress(TimeoutError):
            pings(connection)
        full.set()  # the client takes no more: its thread that answers is blocked
        Event().wait()

    with reading_little(behave) as id:
        env = gem.make(id, timeout=HANG_LIMIT, patience=0)
        env.reset(seed=0)
        assert full.wait(HANG_LIMIT)
        env.close()
