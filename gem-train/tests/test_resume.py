"""A run that was stopped resumes from its last checkpoint and ends as if it had not been stopped."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import torch
from click.testing import CliRunner, Result
from msgspec.structs import replace
from safetensors.torch import load_file
from torch.utils._pytree import tree_map

from gem.cli.main import main
from gem.episode import Episode
from gem.record import read
from gem_train.config.sources import read_toml
from gem_train.learning.learner import Learner
from gem_train.runs.checkpoints import checkpoints

STEPS = 14
SETTINGS = {
    "rollout.episodes": 8,
    "rollout.num_envs": 8,
    "rollout.max_new_tokens": 8,
    "warmup.steps": 40,
    "eval.episodes": 8,
    "checkpoint_every": 3,
    "watch.stop": "false",  # so small a run may well collapse
    "steps": STEPS,
}
SHORT = {"steps": 2, "warmup.steps": 0, "eval.episodes": 1}


def words(out: Path, **settings: int | str) -> list[str]:
    """The command of a small run, without `gemx`."""
    command = ["train", "core:Echo-v0", "--model", "tiny", "--out", str(out)]
    for key, value in {**SETTINGS, **settings}.items():
        command += ["--set", f"{key}={value}"]
    return command


def gemx(*command: str) -> Result:
    done = CliRunner().invoke(main, list(command))
    assert done.exit_code == 0, done.stderr
    return done


def metrics(out: Path) -> list[dict]:
    """The metrics without those that depend on the clock."""
    lines = (out / "metrics.jsonl").read_text().splitlines()
    clock = ("seconds", "tokens_per_second")
    return [{key: value for key, value in json.loads(line).items() if not key.startswith(clock)} for line in lines]


def steps(out: Path) -> list[int]:
    return [line["step"] for line in metrics(out) if line["phase"] == "train"]


def episodes(out: Path) -> list[Episode]:
    """The recorded episodes without the fields that depend on the clock."""
    return [replace(record, started=None, seconds=0.0, key="") for record in read(out / "episodes.jsonl")]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "unbroken"
    gemx(*words(out))
    # Weights that never changed would be equal in any case.
    assert sum(line["signal"] for line in metrics(out) if line["phase"] == "train") > STEPS / 2
    return out


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "short"
    gemx(*words(out, **SHORT))
    return out


@pytest.mark.full
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_ends_with_the_weights_of_an_unbroken_one(tmp_path, unbroken, sent):
    stopped = tmp_path / "stopped"
    process = subprocess.Popen([sys.executable, "-m", "gem", *words(stopped)], stdout=subprocess.PIPE, stderr=-1)
    deadline = time.monotonic() + 300
    # Stopped some steps after a checkpoint, most likely between two of them.
    written = stopped / "metrics.jsonl"
    while not (written.exists() and '"train", "step": 7' in written.read_text()):
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, sent)
    printed = process.communicate(timeout=300)[1].decode()
    assert not (stopped / "summary.json").exists()
    kept = {int(path.name.removeprefix("step-")) for path in (stopped / "checkpoint").glob("step-*")}
    assert kept
    if sent == signal.SIGINT:
        made = steps(stopped)[-1]
        assert process.returncode == 130
        assert made in kept
        assert f"stopped after step {made} of {STEPS}, and saved" in printed
        # The line that it prints is the whole command.
        again = next(line for line in printed.splitlines() if line.startswith("gemx train ")).split()[1:]
    else:
        # A line that the kill cut off is dropped.
        for name, cut_off in (("metrics.jsonl", '{"phase": "train", "st'), ("episodes.jsonl", '{"gem_record": 1, "i')):
            with (stopped / name).open("a") as file:
                file.write(cut_off)
        again = words(stopped)
    gemx(*again)

    assert metrics(stopped) == metrics(unbroken)
    assert steps(stopped) == list(range(1, STEPS + 1))
    ours = load_file(stopped / "checkpoint" / f"step-{STEPS}" / "model" / "model.safetensors")
    theirs = load_file(unbroken / "checkpoint" / f"step-{STEPS}" / "model" / "model.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert episodes(stopped) == episodes(unbroken)


@pytest.mark.full
def test_a_second_ctrl_c_in_the_middle_of_an_update_saves_nothing_of_it(tmp_path, unbroken, monkeypatch):
    out = tmp_path / "run"
    updates = 0
    update = Learner.update

    def cut_off(learner: Learner, *args: Any) -> dict[str, float]:
        nonlocal updates
        updates += 1
        found = update(learner, *args)
        if updates == 5:
            learner.step -= 1
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "update", cut_off)
        stopped = CliRunner().invoke(main, words(out))
    assert stopped.exit_code == 130
    assert "stopped in step 5 of 14; the checkpoint of step 3 is kept. To resume:" in stopped.stderr
    assert [path.name for path in checkpoints(out)] == ["step-0", "step-3"]
    gemx(*words(out))
    assert metrics(out) == metrics(unbroken)


def test_a_finished_run_is_not_repeated_and_one_with_other_settings_is_refused(tmp_path):
    out = tmp_path / "run"
    command = [*words(out, **{"steps": 1, "warmup.steps": 1}), "--json"]
    first, again = gemx(*command), gemx(*command)
    assert json.loads(first.stdout) == json.loads(again.stdout) == json.loads((out / "summary.json").read_text())
    assert "finished already" in again.stderr
    other = CliRunner().invoke(main, [*command, "--seed", "1"])
    assert other.exit_code == 1
    assert "other settings (they differ in seed)" in other.stderr
    assert {path.name for path in out.iterdir()} == {
        "config.toml",
        "metrics.jsonl",
        "episodes.jsonl",
        "curve.png",
        "checkpoint",
        "summary.json",
        "tensorboard",
    }


@pytest.mark.full
def test_a_finished_run_is_extended_by_more_steps_only(unbroken, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    fewer = CliRunner().invoke(main, words(out, steps=STEPS - 1))
    assert (fewer.exit_code, f"has made {STEPS} steps already" in fewer.stderr) == (1, True)
    assert (out / "summary.json").exists()
    gemx(*words(out, steps=STEPS + 3))
    lines = [line for line in metrics(out) if line["phase"] == "train"]
    assert lines[:STEPS] == [line for line in metrics(unbroken) if line["phase"] == "train"]
    assert steps(out) == list(range(1, STEPS + 4))
    assert json.loads((out / "summary.json").read_text())["steps"] == STEPS + 3


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda state: state.pop("play"), "lacks play: another version of gem-train wrote it"),
        (lambda state: state["learner"].pop("scale"), r"does not fit this version of gem-train \('scale'\)"),
        (lambda state: state["learner"]["optimizer"]["param_groups"].pop(), "does not fit this version"),
        (
            None,
            "cannot read the checkpoint .*step-2: .*Remove that folder, and the run resumes from the one before it",
        ),
    ],
)
def test_a_checkpoint_that_cannot_be_continued_exactly_is_refused(short, tmp_path, spoil, reason):
    out = tmp_path / "run"
    shutil.copytree(short, out)
    path = out / "checkpoint" / "step-2" / "state.pt"
    if spoil is None:
        path.write_bytes(path.read_bytes()[:1000])
    else:
        state = torch.load(path, weights_only=True)
        spoil(state)
        torch.save(state, path)
    done = CliRunner().invoke(main, words(out, **SHORT | {"steps": 3}))
    assert done.exit_code == 1
    assert re.search(reason, done.stderr), done.stderr
    assert done.stderr.splitlines()[-1].startswith("gemx: ")


def test_a_run_of_an_earlier_version_is_resumed(short, tmp_path):
    """Its checkpoints hold all of the state in one file, and it lacks settings that came later."""
    old, new = tmp_path / "old", tmp_path / "new"
    for out in (old, new):
        shutil.copytree(short, out)
    folder = old / "checkpoint" / "step-2"
    files = (folder / "tensors").glob("*.safetensors")
    tensors = {name: tensor for file in files for name, tensor in load_file(file).items()}
    plain = torch.load(folder / "state.pt", weights_only=True)

    def is_stored(part: Any) -> bool:
        return isinstance(part, dict) and "gem_stored" in part

    whole = tree_map(
        lambda leaf: tensors.pop(leaf["gem_stored"]) if is_stored(leaf) else leaf, plain, is_leaf=is_stored
    )
    torch.save(whole, folder / "state.pt")
    shutil.rmtree(folder / "tensors")
    assert not tensors
    settings = read_toml(old / "config.toml")
    del settings["rollout"]["async"], settings["credit"]["ratio"]
    (old / "config.toml").write_text(tomli_w.dumps(settings))
    for out in (old, new):
        assert "resuming from the checkpoint of step 2" in gemx(*words(out, **SHORT | {"steps": 3})).stderr
    assert metrics(old) == metrics(new)
    settings["rollout"]["temperature"] = 0.5
    (old / "config.toml").write_text(tomli_w.dumps(settings))
    refused = CliRunner().invoke(main, words(old, **SHORT | {"steps": 4})).stderr
    assert "they differ in rollout.temperature); " in refused
    assert "A new run can start from its newest checkpoint, with --model" in refused


FAR = '''
from pathlib import Path
from gem import Step, TurnEnv
from gem.errors import Unreachable

class Far(TurnEnv):
    """Can be reached while its file exists, which the episodes of the second step remove."""

    def _reset(self, options):
        if len(Path("run/metrics.jsonl").read_text().splitlines() if Path("run/metrics.jsonl").exists() else ()) == 2:
            Path("server").unlink(missing_ok=True)
        if not Path("server").exists():
            raise Unreachable("the server at far:1 cannot be reached")
        return "go"

    def _step(self, action):
        return Step.final("", 1.0, success=True)

    def sample_action(self):
        return "x"
'''


@pytest.mark.full
def test_a_run_whose_server_cannot_be_reached_stops_and_says_how_to_resume(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "far_env.py").write_text(FAR)
    server = tmp_path / "server"
    server.touch()
    command = ["train", "far_env:Far", *words(Path("run"), **{**SHORT, "checkpoint_every": 1, "steps": 3})[2:]]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1
    said = (
        r"gemx: the server at far:1 cannot be reached; \d+ episodes of far_env:Far in a row .* resume with: gemx (.*)"
    )
    assert steps(tmp_path / "run") == [1]

    (tmp_path / "far_env.py").write_text(FAR.replace("== 2", "== 99"))
    monkeypatch.delitem(sys.modules, "far_env")
    server.touch()
    gemx(*shlex.split(re.search(said, done.stderr)[1]))
    assert steps(tmp_path / "run") == [1, 2, 3]


@pytest.mark.full
def test_the_damaged_summary_of_a_finished_run_is_named_and_written_again(tmp_path):
    gemx(*words(tmp_path, **SHORT))
    summary = tmp_path / "summary.json"
    content = summary.read_bytes()
    for damaged in (content[:50], b"[]", b"{}"):
        summary.write_bytes(damaged)
        done = CliRunner().invoke(main, words(tmp_path, **SHORT))
        assert done.exit_code == 1
        assert f"gemx: {summary} is damaged" in done.stderr
        assert "remove it, and the same command evaluates the run and writes it again" in done.stderr
    summary.unlink()
    gemx(*words(tmp_path, **SHORT))
    assert json.loads(summary.read_bytes()).keys() == json.loads(content).keys()


@pytest.mark.parametrize("name", ["config.toml", "metrics.jsonl", "episodes.jsonl", "checkpoint", "checkpoint/step-1"])
def test_nothing_is_written_through_a_link_in_the_folder_of_a_run(name, tmp_path):
    out, target = tmp_path / "run", tmp_path / "target"
    target.mkdir() if "checkpoint" in name else target.write_text("")
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(target)
    done = CliRunner().invoke(main, words(out))
    assert done.exit_code == 1
    assert f"{out / name} is a link to {target}" in done.stderr
    assert not (list(target.iterdir()) if target.is_dir() else target.read_text())


def test_gemx_train_names_the_code_of_its_file_before_it_starts(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('id = "core:Echo-v0"\nwarmup.policy = "lab.missing:teach"\n')
    done = CliRunner().invoke(main, ["train", "--config", str(file), "--out", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == f"{file} names the code at 'lab.missing:teach'."


def test_the_algorithm_of_a_config_file_is_named_before_it_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('id = "core:Echo-v0"\nmodel = "tiny"\nalgorithm = "lab.missing:Own"\n')
    done = CliRunner().invoke(main, ["train", "--config", str(file), "--out", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == f"{file} names the code at 'lab.missing:Own'."


def test_nothing_is_written_through_a_link_inside_the_logs_of_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run" / "tensorboard").mkdir(parents=True)
    (tmp_path / "run" / "tensorboard" / "train").symlink_to(tmp_path / "elsewhere")
    words = [
        "core:Echo-v0",
        "--model",
        "tiny",
        "--steps",
        "1",
        "--set",
        "warmup.steps=0",
        "--out",
        str(tmp_path / "run"),
    ]
    done = CliRunner().invoke(main, ["train", *words])
    assert done.exit_code == 1
    assert "tensorboard/train is a link to" in done.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []
