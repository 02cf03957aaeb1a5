"""TensorBoard and Weights & Biases get the metrics that are in metrics.jsonl."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from gem.cli.main import main
from gem_train.config.sections import LogConfig
from gem_train.runs.metric_logs import MetricLogs

WANDB = """
import json, struct, sys
from pathlib import Path
from wandb.proto.wandb_internal_pb2 import Record

# A log as LevelDB writes it: a header of 7 bytes; in blocks of 32 KiB chunks of checksum, length, type and data.
found = []
for path in sorted(Path(sys.argv[1]).glob("wandb/offline-run-*/run-*.wandb")):
    log, at, data = path.read_bytes(), 7, b""
    while at + 7 <= len(log):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", log, at)
        data += log[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = Record.FromString(data)
            items = {".".join(item.nested_key) or item.key: item.value_json for item in record.history.item}
            if items:
                found.append({name: json.loads(value) for name, value in items.items() if name[0] != "_"})
            data = b""
print(json.dumps(found))
"""


def command(out: Path, *settings: str) -> list[str]:
    small = ["steps=2", "warmup.steps=1", "warmup.episodes=4", "eval.episodes=4", "rollout.episodes=4", *settings]
    options = [
        word for setting in (*small, "rollout.max_new_tokens=4", "watch.stop=false") for word in ("--set", setting)
    ]
    return ["train", "core:Echo-v0", "--out", str(out), *options]


def test_wandb_that_is_not_installed_is_one_line_before_anything_is_played(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    done = CliRunner().invoke(main, command(tmp_path / "run", "log.wandb=true"))
    assert done.exit_code == 1
    assert done.stderr == "gemx: log.wandb needs Weights & Biases: pip install 'gem-train[wandb]'\n"
    assert not (tmp_path / "run").exists()


def test_a_run_without_wandb_and_tensorboard_needs_neither(tmp_path, monkeypatch):
    out = tmp_path / "run"
    monkeypatch.setitem(sys.modules, "wandb", None)
    done = CliRunner().invoke(main, command(out, "log.tensorboard=false"))
    assert done.exit_code == 0, done.stderr
    assert not (out / "tensorboard").exists()
    assert len((out / "metrics.jsonl").read_text().splitlines()) == 1 + 1 + 2 + 1


def test_tensorboard_has_the_metrics_of_every_step_once_after_a_resumption_too(tmp_path):
    for steps in ([1, 2, 3], [2, 3, 4]):  # killed after step 3, and resumed from the checkpoint of step 1
        logs = MetricLogs(tmp_path, LogConfig(), "a run", {})
        for step in steps:
            logs.write("train", step, {"success": step / 10 + len(steps) * (steps[0] - 1)})
        logs.close()
        # TensorBoard reads files in the order of their names, which begin with the second; no real run resumes in it.
        for written in (tmp_path / "tensorboard" / "train").iterdir():
            second = written.name.split(".")[3]
            written.rename(written.with_name(written.name.replace(second, f"{int(second) - 1:010}", 1)))
    board = EventAccumulator(str(tmp_path / "tensorboard" / "train")).Reload()
    assert [(event.step, event.value) for event in board.Scalars("success")] == [
        (1, pytest.approx(0.1)),
        *((step, pytest.approx(step / 10 + 3)) for step in (2, 3, 4)),
    ]


@pytest.mark.full
def test_wandb_gets_the_metrics_of_every_phase_and_a_resumed_run_continues_its_curves(tmp_path):
    out = tmp_path / "run"
    # Half a minute, which its service has to start, is not enough on a busy machine.
    patient = {"WANDB_X_SERVICE_WAIT": "200", "WANDB_INIT_TIMEOUT": "200"}
    offline = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", **patient}
    for steps in (2, 3):
        words = [sys.executable, "-m", "gem", *command(out, "log.wandb=true", f"steps={steps}")]
        done = subprocess.run(words, env=offline, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    read = [sys.executable, "-c", WANDB, str(out)]
    logged = json.loads(subprocess.run(read, capture_output=True, text=True, timeout=300, check=True).stdout)
    written = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert logged == [
        {f"{line['phase']}/{name}": value for name, value in line.items() if name != "phase"} for line in written
    ]
    runs = {path.name.rpartition("-")[2] for path in (out / "wandb").glob("offline-run-*")}
    assert runs == {(out / "wandb" / "gem-run-id").read_text()}


@pytest.mark.full
def test_wandb_without_a_key_is_refused_in_one_line(tmp_path):
    online = {name: value for name, value in os.environ.items() if not name.startswith("WANDB")}
    online |= {"HOME": str(tmp_path), "NETRC": str(tmp_path / "netrc"), "WANDB_MODE": "online"}
    words = [sys.executable, "-m", "gem", *command(tmp_path / "run", "log.wandb=true")]
    done = subprocess.run(words, env=online, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert "cannot log to Weights & Biases: " in done.stderr.splitlines()[-1]
    assert "WANDB_MODE=offline" in done.stderr.splitlines()[-1]
