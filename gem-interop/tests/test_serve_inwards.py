"""`openenv:URL` against `gemx serve`: what is played through both is what is played here."""

import json
import os
import signal
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread, Timer, main_thread
from typing import Any

import pytest
import serve_envs
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError
from gem_interop.envs.server import ServerFault
from gem_interop.serve.app import EnvServer
from gem_interop.serve.envs import ServedEnvs
from gem_interop.serve.server import serving
from gem_interop.serve.sessions import Limits

IDS = [
    "core:Echo-v0",
    "game:GuessTheNumber-v0-easy",
    "game:Wordle-v0",
    "game:Hangman-v0-easy",
    "game:Mastermind-v0-easy",
]
TOKEN = "0123456789abcdef"
FULL = pytest.mark.full


@pytest.fixture(scope="module")
def url():
    with serving(EnvServer(ServedEnvs([*IDS, "interop_envs:Talk", "serve_envs:Odd"]), Limits(sessions=64))) as url:
        yield url


def played(env: gem.Env, actions: gem.Env, seed: int) -> list[Any]:
    """An episode of random actions, which are those of a local env that plays along."""
    actions.reset(seed=seed)
    seen: list[Any] = [env.reset(seed=seed)[0]]
    done = False
    while not done:
        action = actions.sample_action()
        actions.step(action)
        step = env.step(action)
        seen.append(step)
        done = step.done
    return seen


@pytest.mark.parametrize("id", IDS)
def test_episodes_are_those_played_here(url: str, id: str) -> None:
    with gem.make(f"openenv:{url}#{id}") as far, gem.make(id) as near, gem.make(id) as along:
        for seed in range(4):
            assert played(far, along, seed) == played(near, along, seed)


def test_a_snapshot_plays_the_episode_again_and_a_fork_has_a_session_of_its_own(url: str) -> None:
    id = "game:GuessTheNumber-v0-easy"
    with gem.make(f"openenv:{url}#{id}") as env:
        env.reset(seed=3)
        env.step("\\boxed{1}")
        state = env.snapshot()
        expected = env.step("\\boxed{2}")
        (copy,) = env.fork(1)
        env.restore(state)
        assert env.step("\\boxed{2}") == expected
        assert copy.step("\\boxed{3}") == env.step("\\boxed{3}")
        copy.close()


def test_a_failing_env_fails_the_episode_and_the_next_reset_continues(url: str) -> None:
    with gem.make(f"openenv:{url}#serve_envs:Odd") as env:
        assert env.reset(seed=0, options={"level": 3})[0] == "options {'level': 3}"
        with pytest.raises(ServerFault, match=r"EXECUTION_ERROR.*the episode failed"):
            env.step("fail")
        env.reset(seed=0)
        assert env.step("win").info == {"success": True}
        with pytest.raises(ServerFault, match="Did you mean 'level'"):
            env.reset(seed=0, options={"levle": 3})
    with gem.make(f"openenv:{url}#game:Nope-v0") as env, pytest.raises(ConfigError, match="refuses the reset"):
        env.reset(seed=0)
    with gem.make(f"openenv:{url}/") as env, pytest.raises(ConfigError, match=rf"say which.*'openenv:{url}#ID'"):
        env.reset(seed=0)
    with gem.make(f"openenv:{url}/#{IDS[0]}") as env:
        env.reset(seed=0)


def test_an_answer_that_does_not_come_in_time_fails_the_episode_and_not_the_next(url: str) -> None:
    serve_envs.LET_GO.clear()
    with gem.make(f"openenv:{url}#serve_envs:Odd", timeout=0.5) as env:
        env.reset(seed=0)
        try:
            with pytest.raises(ServerFault, match=r"did not answer within 0\.5 s"):
                env.step("hang")
        finally:
            serve_envs.LET_GO.set()
        env.reset(seed=0)
        assert env.step("win").reward == 1


def test_after_ctrl_c_the_next_answer_is_not_that_of_the_call_that_was_interrupted(url: str) -> None:
    serve_envs.LET_GO.clear()
    with gem.make(f"openenv:{url}#serve_envs:Odd") as env:
        env.reset(seed=0)
        interrupt = Timer(0.2, signal.pthread_kill, (main_thread().ident, signal.SIGINT))
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            env.step("hang")
        serve_envs.LET_GO.set()
        assert env.reset(seed=0)[0] == "options {}"


def test_a_server_that_wants_a_token_gets_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(EnvServer(ServedEnvs(IDS[:1]), Limits(sessions=2), TOKEN)) as url:
        with pytest.raises(ConfigError, match=r"answers with 401.*wants its token"):
            gem.make(f"openenv:{url}")
        with pytest.raises(ConfigError, match="would be recorded"):
            gem.make(f"openenv:{url.replace('//', f'//gem:{TOKEN}@')}")
        monkeypatch.setenv("GEM_OPENENV_TOKEN", TOKEN)
        with gem.make(f"openenv:{url}") as env:
            assert "Say" in str(env.reset(seed=0)[0])
            assert TOKEN.encode() not in env.snapshot()


def test_a_token_is_not_sent_to_where_a_server_redirects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEM_OPENENV_TOKEN", TOKEN)
    asked: list[tuple[str, str | None]] = []

    class Redirects(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Redirects) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            with pytest.raises(ConfigError, match="answers with 302 Found: moved to /elsewhere"):
                gem.make(f"openenv:http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
    assert asked == [("/schema", f"Bearer {TOKEN}")]


def test_another_server_at_the_same_address_is_asked_again_what_an_action_is() -> None:
    """The schema was kept for the process."""
    served = EnvServer(ServedEnvs(IDS[:1]), Limits())
    other = {"action": {"properties": {"number": {"type": "integer"}}}}

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(other).encode())

    with serving(served) as url, gem.make(f"openenv:{url}") as env:
        env.reset(seed=0)
        port = int(url.rpartition(":")[2])
    with ThreadingHTTPServer(("127.0.0.1", port), Other) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            with gem.make(f"openenv:{url}") as later:
                for each in (env, later):
                    with pytest.raises(ServerFault):  # it speaks no WebSocket
                        each.reset(seed=0)
                    assert each._actions.of_reply("7") == {"number": 7}
        finally:
            server.shutdown()


def test_an_address_at_which_something_else_answers_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        Thread(target=greet).start()
        with pytest.raises(ConfigError, match=r"no server of OpenEnv answers at .*: Bad status line: .*SSH-2"):
            gem.make(f"openenv:http://127.0.0.1:{server.getsockname()[1]}")


def test_a_server_that_does_not_answer_is_busy_and_not_gone() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    with server, pytest.raises(ConfigError, match="does not answer: timed out"):
        gem.make(f"openenv:http://127.0.0.1:{server.getsockname()[1]}", timeout=0.1)


def test_a_full_server_fails_the_episode_with_its_reason() -> None:
    server = EnvServer(ServedEnvs(IDS[:1]), Limits(sessions=1))
    with serving(server) as url, gem.make(f"openenv:{url}") as first, gem.make(f"openenv:{url}") as second:
        first.reset(seed=0)
        with pytest.raises(ServerFault, match="CAPACITY_REACHED"):
            second.reset(seed=0)


@pytest.mark.parametrize("id", [pytest.param(id, marks=FULL) for id in IDS])
def test_the_contract_is_kept(url: str, id: str) -> None:
    # A server does not say which actions there are.
    assert broken_checks(f"openenv:{url}#{id}", leave_out=["sample_action"]) == {}


@pytest.mark.parametrize(
    ("backend", "episodes"),
    [("thread", 2), pytest.param("thread", 20, marks=FULL), pytest.param("process", 20, marks=FULL)],
)
def test_episodes_in_a_vector_are_recorded_and_reproduced(
    url: str, backend: str, episodes: int, tmp_path: Path
) -> None:
    path = tmp_path / "episodes.jsonl"
    records = recorded(
        path, [f"openenv:{url}#{id}" for id in IDS], backend, episodes, samples=["\\boxed{3}", "[apple]"]
    )

    assert differing(records) == []
    assert os.path.getsize(path) > 0
