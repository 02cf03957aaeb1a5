"""A real HTTP server in a thread that answers as a test says."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit


class ReceivedRequest(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    body: bytes


class ScriptedServer(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        """A client that hangs up is part of a test."""


@contextmanager
def answering(answer):
    """Yields an address; `answer(asked)` returns a status, a body and perhaps headers, and may take its time."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, text, *headers = answer(ReceivedRequest(self.command, url.path, query, body))
            self.send_response(status)
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ScriptedServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
