"""`gemx serve`, with real clients: what one of them does wrong, or an env, the others never notice."""

import base64
import contextlib
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import pytest
import serve_envs
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import gem
from gem.errors import ConfigError
from gem_interop.serve.access import Access, token_from
from gem_interop.serve.app import EnvServer
from gem_interop.serve.envs import ServedEnvs
from gem_interop.serve.server import check_exposure, serving
from gem_interop.serve.sessions import Limits

HANG_LIMIT = 30
ODD = "serve_envs:Odd"
TOKEN = "0123456789abcdef"
REMOTE = ["core:Echo-v0", "game:GuessTheNumber-v0-easy", "game:Wordle-v0", "interop_envs:Talk", ODD]


@contextlib.contextmanager
def server_of(*ids, token=None, **limits):
    server = EnvServer(ServedEnvs(ids), Limits(**limits), token)
    with serving(server) as url:
        yield url, server


@pytest.fixture(scope="module")
def url():
    with server_of(*REMOTE, message_bytes=1 << 16) as (url, _):
        yield url


class Client:
    """A client that sends what it likes."""

    def __init__(self, url, **settings):
        self.connection = connect(url.replace("http", "ws") + "/ws", compression=None, proxy=None, **settings)

    def send(self, message):
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
        return json.loads(self.socket.recv(timeout=HANG_LIMIT))

    def reset(self, **data):
        return self.send({"type": "reset", "data": data})

    def step(self, text):
        return self.send({"type": "step", "data": {"message": text}})

    def __enter__(self):
        self.socket = self.connection.__enter__()
        return self

    def __exit__(self, *error):
        self.connection.__exit__(*error)


def http(url, data=None, **headers):
    body = None if data is None else json.dumps(data).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=HANG_LIMIT) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def until(condition):
    end = monotonic() + HANG_LIMIT
    while not condition():
        assert monotonic() < end
        sleep(0.005)


@pytest.mark.parametrize("id", REMOTE)
def test_a_remote_episode_equals_a_local_one_step_by_step(url, id):
    with Client(url) as client, gem.make(id) as local:
        for seed in range(8):
            observation, info = local.reset(seed=seed)
            remote = client.reset(id=id, seed=seed)["data"]
            assert remote["observation"] == {
                "message": observation, "terminated": False, "truncated": False, "success": None,
            }  # fmt: skip
            assert (remote["reward"], remote["done"], remote["metadata"]["info"]) == (None, False, info)
            for _ in range(20):
                action = local.sample_action()
                remote = client.step(action)
                try:
                    step = local.step(action)
                except OSError:
                    assert remote["type"] == "error"
                    break
                data = remote["data"]
                assert data["observation"]["message"] == step.observation
                assert (data["reward"], data["done"], data["metadata"]["info"]) == (step.reward, step.done, step.info)
                assert (data["observation"]["terminated"], data["observation"]["truncated"]) == step[2:4]
                assert data["observation"]["success"] == (step.info["success"] if step.done else None)
                if step.done:
                    break


def test_a_failed_env_is_an_error_of_its_session_which_resets_and_plays_on(url):
    with Client(url) as client:
        assert "no such row" in client.reset(id=ODD, options={"fail": True})["data"]["message"]
        assert "must be text" in client.reset(id=ODD, options={"level": "odd"})["data"]["message"]
        assert client.step("x")["data"]["message"] == "no episode is running: reset first"
        for failing in ("fail", "nan", "no reward", "odd observation"):
            client.reset(id=ODD, seed=3)
            failed = client.step(failing)
            assert failed["type"] == "error"
            assert failed["data"]["code"] == "EXECUTION_ERROR"
            assert failed["data"]["message"].startswith("the episode failed: ")
            assert client.step("x")["data"]["message"] == "no episode is running: reset first"
        assert client.reset(id=ODD, options={"level": 2})["data"]["observation"]["message"] == "options {'level': 2}"
        assert client.step("win")["data"]["observation"]["success"] is True
        assert client.step("win")["type"] == "error"


def test_what_json_does_not_have_is_left_out_of_the_info_and_named(url):
    with Client(url) as client:
        client.reset(id=ODD)
        assert client.step("odd info")["data"]["metadata"] == {
            "info": {"fine": 1},
            "not_json": ["(1, 2)", "function", "number"],
        }


def test_a_reset_without_a_seed_tells_the_one_it_drew(url):
    with Client(url) as client:
        first, second = (client.reset(id="core:Echo-v0")["data"] for _ in range(2))
        again = client.reset(id="core:Echo-v0", seed=first["metadata"]["seed"], episode_id="mine")["data"]

        assert first["metadata"]["seed"] != second["metadata"]["seed"]
        assert again["observation"] == first["observation"]
        assert client.send({"type": "state"})["data"] == {
            "episode_id": "mine", "step_count": 0, "id": "core:Echo-v0", "seed": first["metadata"]["seed"],
            "done": False,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("message", "code", "text"),
    [
        ("", "INVALID_JSON", "not JSON"),
        ("{", "INVALID_JSON", "not JSON"),
        ("[" * 60_000, "INVALID_JSON", "not JSON"),
        ('{"type": "step", "data": {"message": NaN}}', "INVALID_JSON", "NaN"),
        (b"\xff\xfe\x00", "INVALID_JSON", "not JSON"),
        ("9" * 5000, "INVALID_JSON", "not JSON"),
        ("[]", "VALIDATION_ERROR", "a JSON object, not []"),
        ('{"type": "mcp"}', "UNKNOWN_TYPE", "'mcp'"),
        ('{"type": ["reset"]}', "UNKNOWN_TYPE", "reset"),
        ('{"type": "step", "data": "x"}', "VALIDATION_ERROR", "'x'"),
        ('{"type": "step", "data": {"message": null}}', "VALIDATION_ERROR", "string, not None"),
        ('{"type": "step", "data": {"message": true}}', "VALIDATION_ERROR", "'message'"),
        ('{"type": "step", "data": {"message": "x", "more": 1}}', "VALIDATION_ERROR", "'more'"),
        ('{"type": "step", "data": {"message": "\\ud800"}}', "VALIDATION_ERROR", "'message'"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR", "-1"),
        ('{"type": "reset", "data": {"seed": "1"}}', "VALIDATION_ERROR", "'1'"),
        ('{"type": "reset", "data": {"seed": 1.0}}', "VALIDATION_ERROR", "1.0"),
        ('{"type": "reset", "data": {"id": {}}}', "VALIDATION_ERROR", "'id'"),
        ('{"type": "reset", "data": {"options": [1]}}', "VALIDATION_ERROR", "options"),
        ('{"type": "reset", "data": {"sead": 1}}', "VALIDATION_ERROR", "'sead'"),
        ('{"type": "reset", "data": {"episode_id": 1}}', "VALIDATION_ERROR", "episode_id"),
        ('{"type": "reset", "data": {}}', "VALIDATION_ERROR", "say which"),
        ('{"type": "reset", "data": {"id": "antigravity:Class"}}', "VALIDATION_ERROR", "does not play"),
        ('{"type": "reset", "data": {"id": "game:Sudoku-v0-easy"}}', "VALIDATION_ERROR", "does not play"),
    ],
)
def test_a_message_that_is_not_valid_is_refused_and_the_episode_continues(url, message, code, text):
    with Client(url) as client:
        client.reset(id=ODD, seed=1)
        refused = client.send(message)
        assert (refused["type"], refused["data"]["code"]) == ("error", code)
        assert text in refused["data"]["message"]
        assert len(refused["data"]["message"]) < 500
        assert client.step("x")["data"]["observation"]["message"] == "x at turn 1"


def test_a_number_is_its_text_because_verifiers_reads_replies_as_json(url):
    with Client(url) as client:
        client.reset(id=ODD)
        assert client.send({"type": "step", "data": {"message": 7}})["data"]["observation"]["message"] == "7 at turn 1"


def test_a_message_that_is_too_long_ends_only_its_own_session(url):
    with Client(url) as other, Client(url) as client:
        other.reset(id=ODD)
        client.reset(id=ODD)
        with pytest.raises(ConnectionClosed, match="1009"):
            client.step("x" * (1 << 16))
        assert other.step("x" * 60_000)["type"] == "observation"
        assert http(f"{url}/step", {"message": "x" * (1 << 16)})[0] == 422


def test_there_are_only_so_many_sessions_and_one_that_ends_closes_its_env_and_makes_room():
    serve_envs.OPEN.clear()
    with server_of(ODD, sessions=2) as (url, server):
        with Client(url) as first, Client(url) as second:
            first.reset(), second.reset()
            with Client(url) as third:
                refused = json.loads(third.socket.recv(timeout=HANG_LIMIT))
                assert refused["data"]["code"] == "CAPACITY_REACHED"
            assert http(f"{url}/reset", {})[0] == 503
            assert len(serve_envs.OPEN) == 2
        until(lambda: server.sessions.count == 0)
        assert not serve_envs.OPEN
        with Client(url) as again:
            assert again.reset()["type"] == "observation"
    assert not serve_envs.OPEN


def test_an_idle_session_ends():
    with server_of(ODD, idle=0.1) as (url, server), Client(url) as client:
        client.reset()
        http(f"{url}/reset", {})
        assert "no message for 0.1 s" in json.loads(client.socket.recv(timeout=HANG_LIMIT))["data"]["message"]
        with pytest.raises(ConnectionClosed, match="1001"):
            client.socket.recv(timeout=HANG_LIMIT)
        until(lambda: server.sessions.count == 0)


def test_a_step_that_hangs_fails_its_episode_and_nothing_else():
    serve_envs.LET_GO.clear()
    with server_of(ODD, step_timeout=0.2) as (url, _), Client(url) as client, Client(url) as other:
        client.reset(), other.reset()
        client.socket.send('{"type": "step", "data": {"message": "hang"}}')
        assert other.step("x")["type"] == "observation"
        assert "timed out after 0.2 s" in json.loads(client.socket.recv(timeout=HANG_LIMIT))["data"]["message"]
        assert client.reset()["type"] == "observation"
        assert client.step("win")["data"]["reward"] == 1.0
        serve_envs.LET_GO.set()


def test_a_session_that_is_closed_in_a_call_that_hangs_is_told_and_leaves_its_place_to_others():
    serve_envs.LET_GO.clear()
    with server_of(ODD, sessions=1, step_timeout=0.2) as (url, server), ThreadPoolExecutor() as pool:
        session = http(f"{url}/reset", {})[1]["metadata"]["session_id"]
        hangs = pool.submit(http, f"{url}/step", {"session_id": session, "action": {"message": "hang"}})
        until(lambda: server.sessions.open[session].busy)
        assert http(f"{url}/close", {"session_id": session}) == (200, {})
        status, told = hangs.result(HANG_LIMIT)
        assert (status, told["code"]) == (404, "SESSION_ERROR")
        assert http(f"{url}/reset", {})[0] == 200
        serve_envs.LET_GO.set()


def test_the_same_by_http_with_a_session_that_nobody_else_can_name(url):
    status, begun = http(f"{url}/reset", {"id": ODD, "seed": 1})
    session = begun["metadata"]["session_id"]
    assert status == 200
    assert http(f"{url}/step", {"session_id": session, "action": {"message": "x"}})[1]["reward"] == 0.5
    assert http(f"{url}/state?session_id={session}")[1]["step_count"] == 1
    assert http(f"{url}/reset", {"session_id": session, "id": "core:Echo-v0"})[0] == 200
    assert http(f"{url}/step", {"session_id": session, "action": "x"})[0] == 422
    for wrong in ({}, {"session_id": "../../etc/passwd"}, {"session_id": [session]}, {"session_id": session[:-1]}):
        assert http(f"{url}/step", {"action": {"message": "x"}, **wrong})[0] == 404
    assert http(f"{url}/close", {"session_id": session}) == (200, {})
    assert http(f"{url}/state?session_id={session}")[0] == 404


def test_a_socket_cannot_join_a_session_that_was_begun_elsewhere(url):
    session = http(f"{url}/reset", {"id": ODD})[1]["metadata"]["session_id"]
    with connect(url.replace("http", "ws") + f"/ws?session_id={session}", proxy=None) as socket:
        assert json.loads(socket.recv(timeout=HANG_LIMIT))["data"]["code"] == "SESSION_ERROR"
    http(f"{url}/close", {"session_id": session})


def test_only_who_knows_the_token_plays(capsys):
    with server_of(ODD, token=TOKEN) as (url, _):
        basic = base64.b64encode(f"gem:{TOKEN}".encode()).decode()
        wrong = ("", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", f"Token {TOKEN}", "Bearer \xff")
        for said in wrong:
            with pytest.raises(InvalidStatus) as refused, Client(url, additional_headers={"Authorization": said}):
                pass
            assert refused.value.response.status_code == 401
            assert http(f"{url}/schema", Authorization=said)[0] == 401
        for said in (f"Bearer {TOKEN}", f"Basic {basic}"):
            with Client(url, additional_headers={"Authorization": said}) as client:
                assert client.reset()["type"] == "observation"
        with Client(url.replace("//", f"//gem:{TOKEN}@")) as client:
            assert client.reset()["type"] == "observation"
        assert http(f"{url}/health") == (200, {"status": "healthy"})
    assert "ERROR" not in capsys.readouterr().err, "a client that is refused is not an error of the server"


def test_a_page_in_a_browser_cannot_use_a_server_without_a_token(url):
    with pytest.raises(InvalidStatus), Client(url, origin="http://evil.example"):
        pass
    assert http(f"{url}/reset", {"id": ODD}, Origin="http://evil.example")[0] == 403
    status, answer = http(f"{url}/list_environments", Host="evil.example")
    assert (status, "not known as evil.example" in str(answer)) == (403, True)
    assert http(f"{url}/list_environments", Host="localhost:1")[0] == 200


def test_a_server_for_other_machines_needs_a_token_that_cannot_be_guessed(tmp_path):
    with pytest.raises(ConfigError, match="GEM_SERVE_TOKEN"):
        check_exposure("0.0.0.0", None, open_to_all=False)
    check_exposure("0.0.0.0", TOKEN, open_to_all=False)
    check_exposure("::1", None, open_to_all=False)
    with pytest.raises(ConfigError, match="at least 16"):
        Access("secret")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert token_from(tmp_path / "token", {}) == TOKEN
    environ = {"GEM_SERVE_TOKEN": TOKEN}
    assert token_from(None, environ) == TOKEN
    assert not environ, "programs that envs start would inherit it"
    with pytest.raises(ConfigError, match="No such file"):
        token_from(tmp_path / "none")


def test_clients_read_what_is_served_and_how(url):
    assert "game:Wordle-v0" in http(f"{url}/list_environments")[1]
    assert http(f"{url}/schema")[1]["action"]["required"] == ["message"]
    assert "5 environments" in http(f"{url}/metadata")[1]["description"]
    assert http(f"{url}/nothing")[0] == 404
