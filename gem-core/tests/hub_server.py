"""A small hub of data sets, as far as the library `datasets` asks it."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serving(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """The address of a hub with one data set, which has these files."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if f"/{name}/" not in f"{path}/":
                self.answer(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
            elif "/resolve/" in path:
                content = files.get(path.partition("/resolve/")[2].partition("/")[2])
                if content is None:
                    self.answer(b"{}", 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
                else:
                    self.answer(content, headers={"ETag": f'"{sha(content)}"', "X-Repo-Commit": COMMIT})
            elif "/tree/" in path:
                listed = [
                    {"type": "file", "path": file, "size": len(files[file]), "oid": sha(files[file])} for file in files
                ]
                self.answer(json.dumps(listed).encode())
            else:
                described = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}
                self.answer(json.dumps(described).encode())

        def answer(self, content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Type", "application/json")
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def sha(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
