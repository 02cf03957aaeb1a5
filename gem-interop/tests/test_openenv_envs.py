"""`openenv:URL` against OpenEnv's own server, with environments that were written for it."""

from contextlib import ExitStack

import pytest
from openenv import GenericEnvClient
from openenv_envs import served
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError, SnapshotError
from gem_interop.envs.server import ServerFault

SEEDED = ["guess", "parrot", "walk", "shop", "quiet"]


@pytest.fixture(scope="module")
def urls():
    with ExitStack() as servers:
        yield {name: servers.enter_context(served(name)) for name in [*SEEDED, "dice"]}


def id_of(urls, name):
    return f"openenv:{urls[name]}"


def test_an_episode_is_the_one_that_openenvs_client_plays(urls):
    with GenericEnvClient(base_url=urls["guess"]).sync() as client, gem.make(id_of(urls, "guess")) as env:
        for seed in range(10):
            result = client.reset(seed=seed)
            observation, _ = env.reset(seed=seed)
            assert (
                observation == f"{result.observation['hint']}\n\nAnswer with an integer from 1 up to 20 in \\boxed{{}}."
            )
            while not result.done:
                action = env.sample_action()
                step = env.step(action)
                result = client.step({"number": int(action.removeprefix("\\boxed{").rstrip("}"))})
                assert (step.observation, step.reward) == (result.observation["hint"], result.reward)
                assert step.done == result.done
            assert step.info["success"] is (result.reward > 0)


@pytest.mark.parametrize(
    ("name", "replies", "not_actions"),
    [
        ("guess", ["7", "\\boxed{7}", "it is \\boxed{+7}."], ["", "seven", "21", "0", "7.5", "9" * 50, "\\boxed{}"]),
        ("parrot", ["anything", "", "☃ \ud800"], []),
        ("walk", ["north", "\\boxed{West}"], ["up", "", "north west"]),
        (
            "shop",
            ['{"item": "apple", "count": 1}', 'So:\n```json\n{"item": "a", "count": 2}\n```'],
            ["apple", "[]", '{"item": 3}'],
        ),
    ],
)
def test_replies_become_actions_as_the_schema_of_the_server_says(urls, name, replies, not_actions):
    with gem.make(id_of(urls, name)) as env:
        for reply in replies:
            env.reset(seed=0)
            assert "malformed" not in env.step(reply).info, reply
        for reply in not_actions:
            env.reset(seed=0)
            step = env.step(reply)
            assert (step.terminated, step.reward, step.info) == (True, 0.0, {"success": False, "malformed": True}), (
                reply
            )


def test_observations_with_several_fields_are_json_and_options_go_to_the_server(urls):
    with gem.make(id_of(urls, "walk")) as env, gem.make(id_of(urls, "walk"), observation="row") as row:
        assert env.reset(seed=1)[0].startswith('{"column": 4, "row": 1}\n\nAnswer with one of north, south, east, west')
        assert row.reset(seed=1)[0].startswith("1\n\n")
    with gem.make(id_of(urls, "guess")) as env:
        env.reset(seed=0, options={"highest": 1})
        assert env.step("1").info["success"]
    with pytest.raises(ConfigError, match="an action has no field 'word'; it has number"):
        gem.make(id_of(urls, "guess"), action="word")


def test_an_env_that_raises_fails_the_episode(urls):
    with gem.make(id_of(urls, "parrot")) as env:
        env.reset(seed=0)
        with pytest.raises(ServerFault, match="EXECUTION_ERROR"):
            env.step("fail")
        env.reset(seed=0)
        assert env.step("fine").reward == 0.1


def test_a_server_without_a_seed_is_found_and_its_snapshots_are_refused(urls):
    broken = broken_checks(id_of(urls, "dice"), leave_out=("leaks", "imports", "junk"))
    assert {"determinism", "snapshots"} <= set(broken)
    with gem.make(id_of(urls, "dice")) as env:
        env.reset(seed=0)
        env.step("yes")
        env.step("yes")
        state = env.snapshot()
        # By chance it may come out the same once.
        with pytest.raises(SnapshotError, match="led to another observation"):  # noqa: PT012
            for _ in range(5):
                env.restore(state)


def test_a_full_server_fails_the_episode_and_a_place_that_is_left_is_taken():
    with served("guess", sessions=1) as url, gem.make(f"openenv:{url}") as second:
        with gem.make(f"openenv:{url}") as first:
            first.reset(seed=0)
            with pytest.raises(ServerFault, match="CAPACITY_REACHED"):
                second.reset(seed=0)
        second.reset(seed=0)
        assert second.step("3").info.get("malformed") is None


@pytest.mark.parametrize("name", SEEDED)
def test_the_contract_is_kept(urls, name):
    assert broken_checks(id_of(urls, name)) == {}


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_twenty_episodes_of_each_in_a_vector_are_recorded_and_reproduced(urls, backend, tmp_path):
    records = recorded(tmp_path / "episodes.jsonl", [id_of(urls, name) for name in SEEDED], backend, 20)

    assert differing(records) == []
