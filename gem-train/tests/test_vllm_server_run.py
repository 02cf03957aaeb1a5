"""Runs with the engine vllm_server, with a vLLM server that they start on CPU: `make test-vllm` runs this."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from safetensors.torch import load_file

from gem.cli.main import main
from gem.errors import ConfigError
from gem_train.config.training import load_config
from gem_train.engines.make import make_sampler
from gem_train.engines.vllm.client import ServerClient
from gem_train.engines.vllm.fleet import Fleet
from gem_train.engines.vllm.server import VLLMServerSampler
from gem_train.models.loading import make_tiny

pytestmark = pytest.mark.timeout(1800)  # a server takes minutes to start on a machine that is busy

RUN = """
steps = 3
checkpoint_every = 1
engine = {max_model_len = 512, kv_cache_gib = 0.1}
eval.episodes = 16
optim = {lr = 2e-3, max_kl = 1.0, minibatches = 2}
rollout = {engine = "vllm_server", temperature = 0.7, episodes = 32, num_envs = 16, max_new_tokens = 16}
warmup = {steps = 40, episodes = 16, policy = "expert"}
watch.stop = false
"""


def gemx(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["train", "core:Echo-v0", "--config", str(folder / "run.toml"), *words])


def steps_of(run: Path) -> list[dict[str, Any]]:
    """The metrics of the steps of training."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line for line in lines if line["phase"] == "train"]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A run of which the server was killed after the second step, and what it said."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "run.toml").write_text(RUN)
    load, started = VLLMServerSampler.load, list[int]()

    def load_or_die(self: VLLMServerSampler, weights: Any, version: int) -> None:
        load(self, weights, version)
        process = self._fleet._replicas[0].process
        assert process is not None
        started[:] = [process._process.pid]
        if version == 2:
            os.killpg(started[0], signal.SIGKILL)

    with patch.object(VLLMServerSampler, "load", load_or_die):
        done = gemx(folder, "--out", str(folder / "run"))
    assert started, done.output
    assert not group(started[0])
    return folder, done


def group(leader: int) -> list[str]:
    """The processes of a group that are alive."""
    shown = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if line.split()[0] == str(leader) and "Z" not in line.split()[1]]


def test_a_run_whose_server_ends_says_so_and_resumes(interrupted):
    folder, done = interrupted
    assert done.exit_code == 1
    assert "the vLLM server at " in done.output
    assert "The same command, with --out, resumes from the newest checkpoint" in done.output
    assert "It ended with status -9" in done.output
    assert "Traceback" not in done.output
    assert [line["step"] for line in steps_of(folder / "run")] == [1, 2]
    done = gemx(folder, "--out", str(folder / "run"))
    assert done.exit_code == 0, done.output
    steps = steps_of(folder / "run")
    assert [line["step"] for line in steps] == [1, 2, 3]
    assert all(line["signal"] == 1 and line["grad_norm"] > 0 for line in steps)
    # Of the tokens that were sampled under the weights that score them.
    assert all(line["engine_gap_max"] < 1e-3 for line in steps)
    assert all(line["lag"] == 0 for line in steps)


def test_a_server_that_is_killed_is_replaced_and_one_that_keeps_old_weights_stops_the_run(tmp_path, caplog):
    """Of two: one is killed in the middle of replies; when it is there again, the weights of the other stay old."""
    (tmp_path / "run.toml").write_text(RUN)
    begin, call, sync = Fleet.begin, ServerClient.call, Fleet.sync
    killed, liars = list[int](), list[ServerClient]()

    def begin_and_kill(self: Fleet, name: str, slot: int, body: Any) -> None:
        begin(self, name, slot, body)
        replica = self._replicas[0]
        if self._version == 1 and len(replica.replies) == 4 and not killed:
            assert replica.process is not None
            killed.append(replica.process._process.pid)
            os.killpg(killed[0], signal.SIGKILL)

    def sync_and_lie(self: Fleet, send: Any, version: int, names: Any) -> list[bool]:
        if killed and all(replica.well for replica in self._replicas):
            liars.append(self._replicas[1].client)
        return sync(self, send, version, names)

    def call_or_lie(self: ServerClient, path: str, *body: Any, **settings: Any) -> Any:
        ignored = self in liars and path in ("/start_weight_update", "/update_weights", "/finish_weight_update")
        return {} if ignored else call(self, path, *body, **settings)

    settings = {"engine.replicas": 2, "steps": 200, "eval.episodes": 8, "rollout.episodes": 16, "checkpoint_every": 200}
    with (
        patch.object(Fleet, "begin", begin_and_kill),
        patch.object(Fleet, "sync", sync_and_lie),
        patch.object(ServerClient, "call", call_or_lie),
    ):
        done = gemx(
            tmp_path, "--out", str(tmp_path / "run"), *(f"--set={name}={each}" for name, each in settings.items())
        )
    assert killed
    assert "is lost: the others have its conversations. It ended with status -9" in caplog.text
    assert liars, done.output
    assert done.exit_code == 1
    assert f"the vLLM server at {liars[0].where} has kept its old weights" in done.output.replace("\n", " ")
    steps = steps_of(tmp_path / "run")
    assert len(steps) >= 2
    # Every reply was made, of the newest weights, and none twice.
    assert {(line["failures"], line["lag_max"]) for line in steps} == {(0, 0)}
    assert all(line["engine_gap_max"] < 1e-3 for line in steps)


def test_two_processes_with_two_servers_train_as_one_with_one(tmp_path):
    (tmp_path / "run.toml").write_text(RUN)
    same = {"eval.episodes": 8, "rollout.episodes": 16, "rollout.group_size": 2, "steps": 2, "threads": 1}
    given = [
        "core:Echo-v0",
        "--config",
        str(tmp_path / "run.toml"),
        *(f"--set={key}={each}" for key, each in same.items()),
    ]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "gem"]
    two = ["train", *given, "--set=engine.replicas=2", "--out", str(tmp_path / "two")]
    done = subprocess.run(
        [*torchrun, *two], env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert gemx(tmp_path, *given[3:], "--out", str(tmp_path / "one")).exit_code == 0
    for mine, other in zip(steps_of(tmp_path / "two"), steps_of(tmp_path / "one"), strict=True):
        assert mine.pop("straggling") >= 1
        assert mine.keys() == other.keys()
        for name in mine.keys() - {"engine_gap", "engine_gap_max"}:  # which are of rounding alone
            if not name.startswith(("seconds", "tokens_per_second", "phase")):
                assert mine[name] == pytest.approx(other[name], rel=1e-4, abs=1e-5), name
        assert mine["engine_gap_max"] < 1e-3
    weights = [load_file(tmp_path / out / "checkpoint/step-2/model/model.safetensors") for out in ("one", "two")]
    assert all((weights[0][name] - weights[1][name]).abs().max() < 1e-4 for name in weights[0])


def test_an_adapter_is_trained_and_served_over_its_base_by_a_server(interrupted):
    folder, _ = interrupted
    settings = {"warmup.steps": 0, "lora.rank": 4, "optim.lr": 0.05, "steps": 2, "eval.episodes": 8}
    words = [f"--set={name}={value}" for name, value in settings.items()]
    done = gemx(folder, "--model", str(folder / "run"), "--out", str(folder / "adapter"), *words)
    assert done.exit_code == 0, done.output
    steps = steps_of(folder / "adapter")
    assert [line["engine_gap_max"] < 1e-3 for line in steps] == [True, True]
    assert all(line["grad_norm"] > 0 for line in steps)


def test_a_server_that_cannot_run_the_model_says_why(tmp_path):
    settings = {
        "id": "core:Echo-v0",
        "rollout": {"engine": "vllm_server"},
        "engine": {"kv_cache_gib": 1e-4, "max_model_len": 512},
    }
    config = load_config([settings])
    loaded = make_tiny([], 0, head_dim=32)
    with pytest.raises(
        ConfigError,
        match=r"ended before it was ready. It ended with status 1. ValueError: No available memory for the cache",
    ):
        make_sampler(loaded, config.rollout, config.engine)
    with pytest.raises(ConfigError, match="heads of at least 32 dimensions, and this model's have 16"):
        make_sampler(make_tiny([], 0), config.rollout, config.engine)


ORPHAN = """
import os, signal, sys
from pathlib import Path
from gem_train.engines.vllm.launch import ServerProcess
server = ServerProcess({"model": sys.argv[1], "dtype": "float32"}, {"VLLM_CPU_KVCACHE_SPACE": "1"}, Path(sys.argv[1]))
print(server._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_ends_with_a_run_that_is_killed(tmp_path):
    loaded = make_tiny([], 0, head_dim=32)
    loaded.model.save_pretrained(tmp_path)
    loaded.tokenizer.save_pretrained(tmp_path)
    killed = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(tmp_path)], stdout=subprocess.PIPE, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    for _ in range(300):
        if not group(int(killed.stdout)):
            return
        time.sleep(0.2)
    pytest.fail(str(group(int(killed.stdout))))
