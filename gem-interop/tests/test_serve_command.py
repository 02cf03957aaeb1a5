"""The command `gemx serve`, as a program."""

import json
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from websockets.sync.client import connect

from gem.cli.main import main

HANG_LIMIT = 60


def gemx(*arguments):
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


def test_what_is_wrong_is_said_before_the_server_starts(tmp_path, monkeypatch):
    monkeypatch.delenv("GEM_SERVE_TOKEN", raising=False)
    (tmp_path / "token").write_text("0123456789abcdef")
    assert "GEM_SERVE_TOKEN or --token-file" in gemx("serve", "--host", "0.0.0.0")[1]
    assert "either --token-file or --no-token" in gemx("serve", "--no-token", "--token-file", f"{tmp_path}/token")[1]
    assert "Did you mean 'core:Echo-v0'" in gemx("serve", "core:Eco-v0")[1]
    assert "need ids" in gemx("serve", "--arg", "max_turns=3")[1]
    for module in [name for name in sys.modules if name.startswith(("gem_interop.serve", "gem.http.client_timeouts"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "websockets", None)
    monkeypatch.setitem(sys.modules, "uvicorn.protocols.websockets.websockets_sansio_impl", None)
    assert "pip install 'gem-interop[serve]'" in gemx("serve")[1]


ENV = """
import pathlib, time, gem

class Closing(gem.TurnEnv):
    def _reset(self, options):
        return "go"

    def _step(self, action):
        time.sleep(60 if action == "hang" else 0)
        return gem.Step.ongoing(action)

    def sample_action(self):
        return "x"

    def close(self):
        with pathlib.Path("closed").open("a") as file:
            file.write("x")
"""


@contextmanager
def serving(folder):
    """The program, and the address of its socket."""
    (folder / "closing_env.py").write_text(ENV)
    command = [sys.executable, "-m", "gem", "serve", "closing_env:Closing", "--port", "0", "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, **pipes) as program:
        try:
            told = json.loads(program.stdout.readline())
            assert (told["ids"], told["token"]) == (["closing_env:Closing"], False)
            yield program, told["url"].replace("http", "ws") + "/ws"
        finally:
            program.kill()


@pytest.mark.full
@pytest.mark.parametrize(("ended_by", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_closes_every_env_and_ends_the_server(tmp_path, ended_by, status):
    with serving(tmp_path) as (program, url):
        closed_before = len((tmp_path / "closed").read_text())  # the one that was built to see whether it can be
        with connect(url, proxy=None) as one, connect(url, proxy=None) as two:
            for socket in (one, two):
                socket.send('{"type": "reset"}')
                assert json.loads(socket.recv(timeout=HANG_LIMIT))["type"] == "observation"
            program.send_signal(ended_by)
            log = program.communicate(timeout=HANG_LIMIT)[1]

    assert program.returncode == status, log
    assert len((tmp_path / "closed").read_text()) - closed_before == 2
    assert "session 2: begun by 127.0.0.1" in log
    assert "after 1 episodes with 0 steps" in log
    assert "Traceback" not in log


@pytest.mark.full
def test_an_env_that_hangs_does_not_keep_the_server_from_ending(tmp_path):
    with serving(tmp_path) as (program, url), connect(url, proxy=None) as client:
        client.send('{"type": "reset"}')
        client.recv(timeout=HANG_LIMIT)
        client.send('{"type": "step", "data": {"message": "hang"}}')
        program.send_signal(signal.SIGINT)
        log = program.communicate(timeout=HANG_LIMIT)[1]

    assert program.returncode == 130
    assert "cut off in a call of its env" in log
    assert "Traceback" not in log
