"""The engine vllm_server without vLLM: which way weights go, and servers that cannot sample for training."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch
from safetensors.torch import load_file

from gem.chat.encoder import ChatEncoder
from gem.errors import ConfigError, MissingExtra, TrainingStopped
from gem_train.config.training import load_config
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm import transfer
from gem_train.engines.vllm.client import Address, ServerClient
from gem_train.engines.vllm.connect import way_of
from gem_train.engines.vllm.launch import flags
from gem_train.engines.vllm.server import VLLMServerSampler
from gem_train.engines.vllm.transfer import FileTransfer
from gem_train.models.tiny import tiny_model, tiny_tokenizer

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


@pytest.mark.parametrize(
    ("device", "settings", "way"),
    [
        (CPU, {}, "files"),
        (CPU, {"urls": ["http://there"]}, "files"),
        (GPU, {"urls": ["http://there"]}, "nccl"),
        (GPU, {"devices": "1"}, "nccl"),
        (GPU, {}, "files"),  # the server shares the only GPU
        (GPU, {"urls": ["http://there"], "transfer": "files"}, "files"),
    ],
)
def test_weights_go_by_nccl_between_gpus_and_else_as_files(device, settings, way):
    assert way_of(ServerSettings(**settings), device) == way


def test_the_server_that_shares_no_gpu_gets_the_others(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert way_of(ServerSettings(), GPU) == "nccl"


def test_arguments_of_vllms_engine_become_those_of_its_command():
    given = {"max_model_len": 8, "enforce_eager": True, "async_scheduling": False, "dtype": None, "config": {"a": "b"}}
    expected = "--max-model-len 8 --enforce-eager --no-async-scheduling --config"
    assert flags(given) == [*expected.split(), '{"a": "b"}']


class Handler(BaseHTTPRequestHandler):
    """Answers as `replies` of its server say; keeps what was asked, with the weights of a file that is named."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        if body and "update_info" in body:
            shapes = {name: tuple(tensor.shape) for name, tensor in load_file(body["update_info"]["path"]).items()}
            body = shapes, body["update_info"]["last"]
        self.server.asked.append((self.path, body))  # pyright: ignore[reportAttributeAccessIssue]
        status, reply = self.server.replies.get(self.path.partition("?")[0], (404, {}))  # pyright: ignore[reportAttributeAccessIssue]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    do_GET = do_POST  # noqa: N815

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.replies = [], {}  # pyright: ignore[reportAttributeAccessIssue]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def url_of(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def info(mode: str) -> tuple[int, dict[str, object]]:
    config = {"logprobs_mode": mode, "dtype": "torch.float32", "max_model_len": 64}
    return 200, {"vllm_config": {"model_config": config}}


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ({}, r"cannot sample for training: .*/server_info.*status 404"),
        ({"/server_info": (200, {"version": "1"})}, "cannot sample for training: 'vllm_config'"),
        (
            {"/server_info": info("processed_logprobs"), "/inference/v1/generate": (403, {"error": "scale-out"})},
            r"cannot sample for training: .*/generate with status 403 .*scale-out.*docs/engines\.md says how",
        ),
        (
            {"/server_info": info("raw_logprobs"), "/inference/v1/generate": (200, {})},
            "start it with --logprobs-mode processed_logprobs",
        ),
    ],
)
def test_a_server_that_was_not_started_for_training_is_refused(server, replies, message):
    server.replies = replies
    with pytest.raises(ConfigError, match=message):
        sampler_at(url_of(server))


def test_a_server_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"the vLLM server at http://127\.0\.0\.1:9 does not answer /server_info"):
        sampler_at("http://127.0.0.1:9")


def test_a_server_is_started_only_where_vllm_is_installed(monkeypatch):
    monkeypatch.setattr("gem_train.engines.vllm.connect.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"vLLM is not installed: docs/engines\.md says how .* or give engine\.urls"):
        sampler_at(None)


def sampler_at(url: str | None) -> VLLMServerSampler:
    tokenizer = tiny_tokenizer([])
    settings = load_config(
        [{"id": "any", "rollout": {"engine": "vllm_server"}, "engine": {"urls": url} if url else {}}]
    )
    model = tiny_model(tokenizer, 0, head_dim=32)
    return VLLMServerSampler(model, ChatEncoder(tokenizer), max_new_tokens=4, settings=settings.engine)


def test_weights_that_do_not_fit_into_a_file_go_in_several(server, monkeypatch, tmp_path):
    monkeypatch.setattr(transfer, "_FILE_BYTES", 100)
    server.replies = dict.fromkeys(("/start_weight_update", "/update_weights", "/finish_weight_update"), (200, {}))
    client = ServerClient(Address(url_of(server)), 10.0)
    weights = {"a": torch.ones(10), "b": torch.ones(10), "c": torch.ones(7, 10), "d": torch.ones(2)}
    FileTransfer(client.call, torch.float32, str(tmp_path)).send(list(weights.items()))
    server.replies["/update_weights"] = (500, {"error": "no such layer"})
    with pytest.raises(TrainingStopped, match=r"/update_weights with status 500 .*no such layer"):
        FileTransfer(client.call, torch.float32, str(tmp_path)).send(list(weights.items()))
    client.close()
    assert server.asked[:5] == [
        ("/start_weight_update", None),
        ("/update_weights", ({"a": (10,), "b": (10,)}, False)),
        ("/update_weights", ({"c": (7, 10)}, False)),
        ("/update_weights", ({"d": (2,)}, True)),
        ("/finish_weight_update", None),
    ]
    assert not list(tmp_path.iterdir())
