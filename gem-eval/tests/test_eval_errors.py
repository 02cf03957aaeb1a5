"""The commands of gem-eval report an error in one line, and with `--json` as one object."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from vector_backends import is_running, wait_for

from gem.cli.main import main
from gem.record import read

pytestmark = pytest.mark.usefixtures("core_only")

SAMPLES = Path(__file__).parents[2] / "gem-core" / "tests"
ECHO = "core:Echo-v0"
WRONG = [
    (["eval"], 2, "give an ID"),
    (["eval", ECHO, "--episodes", "0"], 2, "--episodes"),
    (["eval", ECHO, "--bogus"], 2, "--bogus"),
    (["eval", ECHO, "--seed", "-1"], 2, "--seed"),
    (["eval", ECHO, "--seed", "9223372036854775808"], 2, "--seed"),
    (["eval", ECHO, "--model", "exprt"], 1, "Did you mean 'expert'?"),
    (["eval", ECHO, "--arg", "num_envs=3"], 1, "takes no argument 'num_envs'"),
    (["eval", ECHO, "--arg", "id=3"], 1, "takes no argument 'id'"),
    (["eval", ECHO, "--arg", "wrappers=concat"], 1, "not for wrappers"),
    (["eval", "sample_envs:NoExpert", "--model", "expert"], 1, "sample_envs:NoExpert does not have an expert"),
    (["eval", "sample_envs:Sum", "--arg", "rounds"], 1, "--arg takes KEY=VALUE"),
    (["eval", ECHO, "--out", __file__], 2, "is a file"),
    (["eval", ECHO, "--out", "/dev/null/none"], 1, "/dev/null/none: "),
    (["reproduce", "no_such_file"], 2, "there is no file 'no_such_file'"),
    (["reproduce", sys.executable], 1, "line 1: this is not JSON"),
    (["rescore", sys.executable], 1, "line 1: this is not JSON"),
    (["rescore", "/dev/zero"], 1, "it is a device or a pipe, not a file"),
]


def gemx(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize(("arguments", "status", "message"), WRONG)
def test_an_error_is_one_clear_line_and_with_json_one_object(arguments: list[str], status: int, message: str) -> None:
    said, done = gemx(*arguments), gemx(*arguments, "--json")

    assert said.exit_code == done.exit_code == status
    assert said.stdout == ""
    assert message in said.stderr
    assert status == 2 or (said.stderr.startswith("gemx: ") and len(said.stderr.splitlines()) == 1)
    result = json.loads(done.stdout)
    assert list(result) == ["error"]
    assert message in result["error"]
    assert "Traceback" not in done.output


OWN = """
import json
import gem


def answer(observation):
    return json.loads(observation)


class Torn(gem.TurnEnv):
    def _reset(self, options):
        return json.loads("{")

    def _step(self, action):
        return gem.Step.final("", 0.0, success=False)

    def sample_action(self):
        return ""
"""


@pytest.mark.parametrize(("id", "shown"), [(ECHO, "line 7, in answer"), ("own:Torn", "line 12, in _reset")])
def test_the_place_of_a_fault_is_in_the_file_of_whoever_runs_it_not_in_a_library(
    id: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    assert f'own.py", {shown}' in gemx("eval", id, "--model", "own:answer").stderr


def test_an_evaluation_makes_the_folders_it_lies_in(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "today" / "episodes.jsonl"
    assert gemx("eval", "core:Echo-v0", "--episodes", "3", "--out", str(path.parent)).exit_code == 0
    assert len(list(read(path))) == 3


@pytest.mark.parametrize("backend", [pytest.param("thread", marks=pytest.mark.full), "process"])
def test_ctrl_c_in_gemx_eval_leaves_nothing(backend: str, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("gemx")), "eval", "vector_envs:Walk", "--arg", "length=1000000"]
    started = tmp_path / "pids"
    environ = os.environ | {"PYTHONPATH": str(SAMPLES), "WALK_PIDS": str(started)}
    with subprocess.Popen(
        [*command, "--num-envs", "64", "--backend", backend],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert wait_for(lambda: started.exists() and len(started.read_text().splitlines()) == 64)
        running.send_signal(signal.SIGINT)
        try:
            _, errors = running.communicate(timeout=30)
        finally:
            running.kill()
    pids = {int(pid) for pid in started.read_text().split()}

    assert running.returncode == 130
    assert "Traceback" not in errors
    assert wait_for(lambda: not any(is_running(pid) for pid in pids))


def test_another_package_whose_entry_points_are_not_text_does_not_keep_an_evaluation_from_running(
    tmp_path: Path,
) -> None:
    metadata = tmp_path / "broken_pack-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-pack\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_bytes(b"\xff\xfe")
    command = [sys.executable, "-m", "gem", "eval", ECHO, "--model", "expert", "--episodes", "2", "--json"]
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ids"][0]["success"] == 1.0
