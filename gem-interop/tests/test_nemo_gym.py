"""Episodes through NeMo Gym's own server class and agent: sessions are apart, and no failure is a reward of 0."""

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from chat_envs import Sums
from fastapi import FastAPI
from fastapi.testclient import TestClient
from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef
from nemo_gym.openai_utils import NeMoGymResponse
from nemo_gym.server_utils import ServerClient, get_global_aiohttp_client, global_aiohttp_client_exit
from omegaconf import OmegaConf
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig
from starting import EVALUATION, IDS, SEED, TRAINING

import gem
from gem.errors import UnknownId
from gem_interop.nemo_gym import GemServer, GemServerConfig, rows

pytestmark = pytest.mark.filterwarnings("default")  # those of NeMo Gym
EXAMPLE = Path(__file__).parents[2] / "examples" / "frameworks" / "nemo_gym_server.py"
GUESS, TALK, SUMS = "game:GuessTheNumber-v0-easy", "interop_envs:Talk", "chat_envs:Sums"
NATIVE = [{"name": "tool_env", "format": "openai"}]
NOWHERE = BaseServerConfig(host="127.0.0.1", port=1)


def server(**settings):
    """As NeMo Gym makes it: from its configuration."""
    config = GemServerConfig(host="", port=0, entrypoint="app.py", name="gem", **settings)
    made = GemServer(
        config=config, server_client=ServerClient(head_server_config=NOWHERE, global_config_dict=OmegaConf.create({}))
    )
    app = made.setup_webserver()
    made.setup_exception_middleware(app)
    return app


def response(text, calls=(), reason=None):
    """What a model server of NeMo Gym answers."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    output = [message] if text or not calls else []
    made = {"id": "r", "created_at": 0.0, "model": "any", "object": "response", "parallel_tool_calls": True}
    made |= {"output": [*output, *calls], "tool_choice": "auto", "tools": []}
    made["incomplete_details"] = {"reason": reason} if reason else None
    return NeMoGymResponse.model_validate(made).model_dump(mode="json")


def reset(client, row):
    return client.post("/reset", json=row)


def step(client, row, text, *, calls=(), **more):
    return client.post("/step", json={**row, "response": response(text, calls), **more})


@contextmanager
def served(app):
    """An app on a port of this machine."""
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield running.servers[0].sockets[0].getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(60)


def model_app(answer):
    """A model server: NeMo Gym's protocol, and a function for a model."""
    app = FastAPI()

    @app.post("/v1/responses")
    async def responses(body: dict):
        return answer(body["input"], body.get("tools"))

    return app


@contextmanager
def agent(app, answer, max_steps=10):
    """NeMo Gym's own agent between a server and a model."""
    with served(app) as env_port, served(model_app(answer)) as model_port:
        entry = {"host": "127.0.0.1", "entrypoint": "app.py"}
        everything = {
            "gem": {"resources_servers": {"gem": {**entry, "port": env_port}}},
            "model": {"responses_api_models": {"model": {**entry, "port": model_port}}},
        }
        made = GymnasiumAgent(
            config=GymnasiumAgentConfig(
                host="", port=0, entrypoint="app.py", name="agent", max_steps=max_steps,
                resources_server=ResourcesServerRef(type="resources_servers", name="gem"),
                model_server=ModelServerRef(type="responses_api_models", name="model"),
            ),
            server_client=ServerClient(head_server_config=NOWHERE, global_config_dict=OmegaConf.create(everything)),
        )  # fmt: skip
        agent_app = made.setup_webserver()
        made.setup_exception_middleware(agent_app)
        with TestClient(agent_app, raise_server_exceptions=False) as client:
            try:
                yield client
            finally:  # its connections belong to this event loop
                client.portal.call(get_global_aiohttp_client().close)
                global_aiohttp_client_exit()


@pytest.fixture(autouse=True)
def child(monkeypatch):
    """A server of NeMo Gym is a child process of its command, which gives it the configuration in this variable."""
    monkeypatch.setenv("NEMO_GYM_CONFIG_DICT", "{}")


RNG = random.Random(0)


def chatter(conversation, tools):
    return response(f"{RNG.random()}é")


def replay(row, said):
    env = gem.make(row["env"])
    env.reset(seed=row["seed"])
    return [env.step(text) for text in said]


def said_in(result):
    return ["".join(c["text"] for c in out["content"]) for out in result["response"]["output"] if out.get("id") == "m"]


def test_rollouts_of_its_agent_have_the_return_of_a_local_replay_and_failures_are_errors():
    data = rows(TALK, 80)
    with agent(server(env=TALK), chatter) as client, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda row: client.post("/run", json=row), data))
    good = [(row, answer.json()) for row, answer in zip(data, answers, strict=True) if answer.status_code == 200]
    failed = [answer for answer in answers if answer.status_code != 200]
    assert len(good) >= 50
    assert failed
    assert all((each.status_code, "the env is broken" in each.text) == (500, True) for each in failed)
    for row, result in good:
        steps = replay(row, said_in(result))
        assert result["reward"] == pytest.approx(sum(each.reward for each in steps))
        assert (steps[-1].done, result["terminated"], result["truncated"]) == (True, True, False)
        assert result["info"]["success"] == steps[-1].info["success"]
        assert result["info"]["rewards"] == [each.reward for each in steps]
        assert result["info"]["return"] == pytest.approx(result["reward"])


def test_its_agent_carries_calls_of_tools_and_their_results():
    def answer(conversation, tools):
        assert [tool["name"] for tool in tools] == ["add"]
        if conversation[-1].get("type") == "function_call_output":
            return response(conversation[-1]["output"])
        a, b = re.findall(r"\d+", conversation[-1]["content"])[:2]
        arguments = json.dumps({"a": int(a), "b": int(b)})
        return response("", [{"type": "function_call", "call_id": "c1", "name": "add", "arguments": arguments}])

    data = rows(SUMS, 4, wrappers=NATIVE)
    with agent(server(env=SUMS, wrappers=NATIVE), answer) as client:
        results = [client.post("/run", json=row).json() for row in data]
    assert [(each["reward"], each["info"]["success"]) for each in results] == [(1.0, True)] * 4


def test_sessions_do_not_see_each_other():
    app, data = server(env=TALK), rows(TALK, 6)
    with TestClient(app):
        clients = [TestClient(app) for _ in data]
        first = [reset(client, row).json()["observation"] for client, row in zip(clients, data, strict=True)]
        assert first == [gem.make(TALK).reset(seed=row["seed"])[0] for row in data]
        played = {index: ([], []) for index in range(len(data))}
        waiting = list(played)
        while waiting:  # one step of each in turn
            for index in list(waiting):
                said, answers = played[index]
                said.append(f"{index} {len(said)} yes")
                answer = step(clients[index], data[index], said[-1])
                if answer.status_code == 200:
                    answers.append(answer.json())
                if answer.status_code != 200 or answers[-1]["terminated"]:
                    waiting.remove(index)
    for index, (said, answers) in played.items():
        if len(said) == len(answers):
            assert [each["reward"] for each in answers] == [each.reward for each in replay(data[index], said)]


def test_a_failed_step_ends_the_episode_with_an_error_and_frees_its_env():
    app = server(env=SUMS, max_envs=1, env_kwargs={"broken": True})
    row = rows(TALK, 1)[0] | {"env": SUMS}
    with TestClient(app, raise_server_exceptions=False) as client:
        for _ in range(3):  # with one env, each would wait for the one before
            answer = reset(client, row)
            assert (answer.status_code, "no reset today" in answer.text) == (500, True)
        assert step(client, row, "0").status_code == 409
    assert not Sums.open


def test_an_env_is_free_for_others_when_its_agent_has_closed_left_or_started_again():
    row = rows(SUMS, 1)[0]
    app = server(env=SUMS, max_envs=1, idle_timeout=0.2)
    with TestClient(app):
        closes, starts_again, leaves, last = (TestClient(app) for _ in range(4))
        assert reset(closes, row).json()["info"] == {"supports_explicit_close": True, "supports_step_idempotency": True}
        assert closes.post("/close", json={}).status_code == closes.post("/close", json={}).status_code == 200
        assert step(closes, row, "1").status_code == 409
        assert reset(starts_again, row).status_code == reset(starts_again, row).status_code == 200
        assert reset(leaves, row).status_code == 200  # when the env of `starts_again` has been idle
        assert reset(last, row).status_code == 200
        assert step(last, row, "1").json()["terminated"] is True
    assert not Sums.open


def test_a_step_that_is_asked_for_again_is_answered_and_not_made_again():
    row = next(row for row in rows(TALK, 20) if "in 2 rounds" in gem.make(TALK).reset(seed=row["seed"])[0])
    with TestClient(server(env=TALK)) as client:
        reset(client, row)
        first = [step(client, row, "hello", _ng_step_request_id="a").json() for _ in range(2)]
        last = [step(client, row, "hello", _ng_step_request_id="b").json() for _ in range(2)]
        assert (first[0], last[0]) == (first[1], last[1])
        assert (first[0]["terminated"], last[0]["terminated"], last[0]["info"]["rewards"]) == (False, True, [0.4, 0.4])
        assert step(client, row, "hello", _ng_step_request_id="c").status_code == 409


def test_envs_of_many_sessions_step_at_once():
    row = {**rows(TALK, 1)[0], "env": "chat_envs:Together"}
    app = server(env=row["env"])
    with TestClient(app) as everyone, ThreadPoolExecutor(4) as pool:
        clients = [TestClient(app) for _ in range(4)]
        for client in clients:
            client.portal = everyone.portal  # one event loop for all of them
            assert reset(client, row).status_code == 200
        answers = list(pool.map(lambda client: step(client, row, "hi"), clients))
    assert [answer.json()["reward"] for answer in answers] == [1.0] * 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": "7"}, "a whole number"),
        ({"env": "game:Nothing-v0"}, "and not 'game:Nothing-v0'"),
        ({"responses_create_params": {"input": []}}, "make rows with nemo_gym.rows"),
    ],
)
def test_a_row_that_cannot_be_played_is_refused(change, told):
    row = rows(SUMS, 1, wrappers=NATIVE)[0]
    with TestClient(server(env=SUMS, wrappers=NATIVE, max_envs=1)) as client:
        answer = reset(client, {**row, **change})
        assert (answer.status_code, told in answer.text) == (422, True)
        assert reset(client, row).status_code == 200


def test_a_limit_on_turns_truncates_and_a_cut_reply_is_passed_on():
    row = next(row for row in rows(TALK, 20) if "in 3 rounds" in gem.make(TALK).reset(seed=row["seed"])[0])
    with TestClient(server(env=TALK, max_turns=2)) as client:
        reset(client, row)
        one = client.post("/step", json={**row, "response": response("hello", reason="max_output_tokens")}).json()
        two = step(client, row, "hello").json()
    assert (one["truncated"], two["truncated"], two["terminated"], two["info"]["success"]) == (
        False,
        True,
        False,
        False,
    )


def test_settings_that_cannot_work_are_refused_at_the_start():
    with pytest.raises(UnknownId):
        server(env="game:Nothing-v0")
    with pytest.raises(Exception, match="num_workers"):
        server(env=SUMS, num_workers=2)
    with pytest.raises(Exception, match="speed"), TestClient(server(env=SUMS, env_kwargs={"speed": 3})):
        pass


def test_what_the_launch_file_writes_starts_as_a_process_of_nemo_gym_and_plays_its_data_set(tmp_path):
    written = [sys.executable, EXAMPLE, tmp_path, "--env", GUESS, "--env", "game:Wordle-v0", "--starts", "4"]
    subprocess.run(written, check=True, timeout=120)
    folder = tmp_path / "resources_servers" / "gem"
    config = OmegaConf.load(folder / "configs" / "gem.yaml")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config.gem.resources_servers.gem.update({"host": "127.0.0.1", "port": port})
    config.head_server = {"host": "127.0.0.1", "port": 1}
    config.dry_run = False
    given = {"NEMO_GYM_CONFIG_DICT": OmegaConf.to_yaml(config), "NEMO_GYM_CONFIG_PATH": "gem"}
    with (
        subprocess.Popen([sys.executable, "app.py"], cwd=folder, env=os.environ | given) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        try:
            for _ in range(600):
                with contextlib.suppress(httpx.ConnectError):
                    assert client.get("/health").status_code == 200
                    break
                assert process.poll() is None
                time.sleep(0.1)
            for row in map(json.loads, (folder / "data" / "example.jsonl").read_text().splitlines()):
                assert reset(client, row).json()["observation"] == gem.make(row["env"]).reset(seed=row["seed"])[0]
                assert step(client, row, "hello").status_code == 200
        finally:
            process.terminate()


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = rows(IDS, 3, SEED, evaluation=evaluation)
        assert [(row["env"], row["seed"]) for row in made] == expected
