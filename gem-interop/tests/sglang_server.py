"""What slime asks of SGLang's router, by a tiny model of transformers: `/generate`, and `/workers`, which has none."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from samples import tiny_model
from sampling import sample


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model, one_at_a_time = tiny_model(), threading.Lock()

    def do_GET(self):
        self._answer({"workers": []})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given, ids = asked["sampling_params"], asked["input_ids"]
        with self.one_at_a_time:
            said, logprobs = sample(
                self.model,
                ids,
                most=given["max_new_tokens"],
                ends=given["stop_token_ids"],
                temperature=given["temperature"],
            )
        stopped = said[-1] in given["stop_token_ids"]
        meta = {
            "finish_reason": {"type": "stop" if stopped else "length"},
            "output_token_logprobs": [[value, id, None] for value, id in zip(logprobs, said, strict=True)],
            "prompt_tokens": len(ids),
            "cached_tokens": 0,
            "weight_version": "7",
        }
        self._answer({"text": "", "meta_info": meta})

    def _answer(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serve():
    """Its port, while it runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()
