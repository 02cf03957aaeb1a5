"""`nemo:URL` against NeMo Gym's own resources servers, by HTTP."""

import importlib
import json
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError, Unreachable
from gem_interop.envs.server import ServerFault

pytestmark = pytest.mark.filterwarnings("default")  # those of NeMo Gym
SERVERS = {
    "example_multi_turn_gymnasium": "ExampleMultiTurnEnv",
    "mcqa": "MCQAResourcesServer",
    "string_match": "StringMatchResourcesServer",
    "graphwalks": "GraphWalksResourcesServer",
    "equivalence_rule": "EquivalenceRuleResourcesServer",
    "blackjack": "BlackjackEnv",
}
"""Two that are played in turns, of which blackjack takes no seed, and four that verify one reply."""
SEEDED = [name for name in SERVERS if name != "blackjack"]
REPLIES = {
    "example_multi_turn_gymnasium": ["It is Paris.", "The Eiffel tower", "20"],
    "mcqa": ["\\boxed{A}", "\\boxed{B}", "\\boxed{C}", "B"],
    "string_match": ["\\boxed{Paris}", "\\boxed{80}", "Final answer: Saturn", "no"],
    "graphwalks": ["Final Answer: [a, b]", "Final Answer: []", "no"],
    "equivalence_rule": ["\\boxed{1}", "yes", "no"],
    "blackjack": ["<action>hit</action>", "<action>stand</action>", "no"],
}


def resources_server(name):
    """A server as NeMo Gym makes it, and the file with its example rows."""
    module = importlib.import_module(f"resources_servers.{name}.app")
    server = getattr(module, SERVERS[name])
    config = server.model_fields["config"].annotation
    nowhere = BaseServerConfig(host="127.0.0.1", port=1)
    client = ServerClient(head_server_config=nowhere, global_config_dict=OmegaConf.create({}))
    made = server(config=config(host="", port=0, entrypoint="app.py", name=name), server_client=client)
    return made, Path(module.__file__).parent / "data" / "example.jsonl"


@contextmanager
def served(name):
    """The arguments of an env on a server, its address first."""
    made, rows = resources_server(name)
    app = made.setup_webserver()
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
        yield url, {"data": str(rows), "samples": REPLIES[name]}
    finally:
        running.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def servers():
    with ExitStack() as stack:
        yield {name: stack.enter_context(served(name)) for name in SERVERS}


def test_an_episode_of_several_turns_is_the_one_of_its_row(servers):
    url, arguments = servers["example_multi_turn_gymnasium"]
    rows = [json.loads(line) for line in Path(arguments["data"]).read_text().splitlines()]
    with gem.make(f"nemo:{url}", **arguments) as env:
        for index, row in enumerate(rows):
            first, _ = env.reset(options={"index": index})
            assert first == row["responses_create_params"]["input"][0]["content"]
            for question in row["follow_ups"]:
                step = env.step("well")
                assert (step.observation, step.reward, step.done) == (question, 0.0, False)
            step = env.step(f"It is {row['expected_answer']}.")
            assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)


def test_a_reply_is_verified_by_a_server_that_only_verifies(servers):
    url, arguments = servers["string_match"]
    with gem.make(f"nemo:{url}", **arguments) as env:
        for reply, reward in (("So \\boxed{Paris}", 1.0), ("\\boxed{Rome}", 0.0)):
            assert env.reset(options={"index": 0})[0].startswith("What is the capital of France?")
            step = env.step(reply)
            assert (step.reward, step.terminated, step.info["success"]) == (reward, True, reward == 1)


def test_episodes_at_once_are_apart_and_a_snapshot_plays_again(servers):
    url, arguments = servers["example_multi_turn_gymnasium"]
    with gem.make(f"nemo:{url}", **arguments) as one, gem.make(f"nemo:{url}", **arguments) as other:
        one.reset(options={"index": 0})
        other.reset(options={"index": 1})
        state = one.snapshot()
        first = one.step("Paris")
        assert other.step("120").observation != first.observation
        one.step("two million")
        one.restore(state)
        assert one.step("Paris") == first


def test_a_server_that_draws_without_a_seed_is_found(servers):
    url, arguments = servers["blackjack"]
    broken = broken_checks(f"nemo:{url}", ("leaks", "imports", "junk"), **arguments)

    assert {"determinism", "snapshots"} <= set(broken)


def test_what_cannot_be_played_is_refused_with_the_reason(servers, tmp_path):
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9 cannot be reached: .*refused$"):
        gem.make("nemo:http://127.0.0.1:9")
    url, _ = servers["string_match"]
    env = gem.make(f"nemo:{url}", data=[{"prompt": "?"}])
    with pytest.raises(ConfigError, match="this one has seed, prompt"):
        env.reset(seed=0)
    env = gem.make(f"nemo:{url}")
    env.reset(seed=0)
    with pytest.raises(ServerFault, match="/verify answers with 422"):  # the row does not have an answer
        env.step("?")


@pytest.mark.parametrize("name", SEEDED)
def test_the_contract_is_kept(name, servers):
    url, arguments = servers[name]

    # The grader of string_match takes minutes for 100 kB of braces, and nothing else gets an answer meanwhile.
    leave_out = ["junk"] if name == "string_match" else []
    assert broken_checks(f"nemo:{url}", leave_out, **arguments) == {}


@pytest.mark.parametrize("backend", ["thread", "process"])
@pytest.mark.parametrize("name", SERVERS)
def test_twenty_episodes_in_a_vector_are_recorded_and_reproduced(name, backend, servers, tmp_path):
    url, arguments = servers[name]
    records = recorded(tmp_path / "episodes.jsonl", [f"nemo:{url}"], backend, 20, **arguments)

    assert (differing(records) == []) is (name in SEEDED)
