"""`gemx` reports an error in one line, and with `--json` as one object."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.error_output import error_line
from gem.cli.main import main
from gem.errors import ConfigError
from gem.record import Recorder, read
from gem.rollout import rollout

pytestmark = pytest.mark.usefixtures("core_only")

TESTS = Path(__file__).parent
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")


def gemx(*arguments: str, input: str = "") -> Result:
    return CliRunner().invoke(main, list(arguments), input=input)


class Quitting(gem.TurnEnv):
    """Ends the program, or raises, as its action says."""

    def _reset(self, options: object) -> str:
        return "Say something."

    def _step(self, action: str) -> gem.Step:
        if "quit" in action:
            sys.exit(0)
        raise ValueError("a fault\nof the env")

    def sample_action(self) -> str:
        return "nothing"


WRONG = [
    (["lst"], 1, "there is no command 'lst'"),
    (["info", "core:Ecko-v0"], 1, "Did you mean 'core:Echo-v0'?"),
    (["info", "sample_envs:Nothing"], 1, "no 'Nothing'"),
    (["--bogus"], 2, "--bogus"),
    (["list", "--bogus"], 2, "--bogus"),
    (["check"], 2, "NAME"),
]


@pytest.mark.parametrize(("arguments", "status", "message"), WRONG)
def test_with_json_an_error_is_one_object_on_standard_output(arguments: list[str], status: int, message: str) -> None:
    done = gemx(*arguments, "--json")

    assert done.exit_code == status
    result = json.loads(done.stdout)
    assert list(result) == ["error"]
    assert message in result["error"]
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_ctrl_c_is_an_object_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gem.packs.registry.Registry.entries", interrupted)
    done = gemx("list", "--json")

    assert (done.exit_code, json.loads(done.stdout)) == (130, {"error": "interrupted"})


@pytest.mark.parametrize(
    ("action", "fault"), [("anything", "ValueError: a fault of the env"), ("quit", "SystemExit: 0")]
)
def test_an_exception_of_an_env_in_play_is_one_line_with_its_place(action: str, fault: str) -> None:
    done = gemx("play", "test_cli_errors:Quitting", "--seed", "1", input=f"{action}\n")

    assert done.exit_code == 1
    shown = rf"{re.escape(fault)}, in _step at test_cli_errors.py:\d+"
    assert re.fullmatch(rf"gemx: {shown} \(`gemx --debug …` shows the traceback\)\n", done.stderr)


OWN = """
import json
import gem


class Torn(gem.TurnEnv):
    def _reset(self, options):
        return json.loads("{")

    def _step(self, action):
        return gem.Step.final("", 0.0, success=False)

    def sample_action(self):
        return ""
"""


def test_the_place_of_a_fault_is_in_the_file_of_whoever_runs_it_not_in_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    assert ", in _reset at own.py:8 " in gemx("play", "own:Torn").stderr


def test_an_object_that_a_command_has_printed_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("after all")

    monkeypatch.setattr("gem.cli.list.warn_of_failures", broken)
    done = gemx("list", "--json")

    assert "envs" in json.loads(done.stdout)


@needs_full
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["info", "core:Echo-v0"], ["--help"]])
def test_a_standard_output_that_is_full_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gem", *arguments]
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, cwd=TESTS)

    assert done.returncode == 1
    assert done.stderr.startswith("gemx: ")
    assert done.stderr.endswith("No space left on device\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["doctor", "list"])
def test_a_pipe_whose_reader_has_left_ends_a_command_without_a_word(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "gem", command],
            env=os.environ | {"GEM_PACKS": "core"},
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, b"")


def test_an_episode_that_does_not_fit_on_the_disk_is_not_half_written(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with gem.make_vec("core:Echo-v0", 1) as envs, Recorder(path) as recorder:
        episodes = list(rollout(lambda observation: "x" * 5000, envs, range(3)))
        recorder.write(episodes[0])
        whole = path.read_bytes()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 100, hard))
        try:
            with pytest.raises(OSError, match="File too large") as refused:
                recorder.write(episodes[1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert refused.value.filename == str(path)
        assert path.read_bytes() == whole
        recorder.write(episodes[2])

    assert [record.seed for record in read(path)] == [0, 2]


def test_a_message_with_a_value_that_is_too_long_to_read_is_cut_in_its_middle() -> None:
    line = error_line(ConfigError(f"there is no {'x' * 10**6}: say another"))
    assert line.startswith("there is no xxx")
    assert line.endswith("xxx: say another")
    assert len(line) < 5000
