"""OpenEnv's own client plays what `gemx serve` serves; `make interop-openenv` runs this with OpenEnv."""

import asyncio

import pytest
from openenv import GenericEnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import SchemaResponse, State
from openenv.core.sync_client import SyncEnvClient

import gem
from gem_interop.serve.app import EnvServer
from gem_interop.serve.envs import ServedEnvs
from gem_interop.serve.server import serving
from gem_interop.serve.sessions import Limits

IDS = ["game:GuessTheNumber-v0-easy", "game:Wordle-v0", "core:Echo-v0", "interop_envs:Talk"]
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def url():
    with serving(EnvServer(ServedEnvs(IDS), Limits(sessions=64), TOKEN)) as url:
        yield url


def client_of(url):
    return GenericEnvClient(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"})


def said(env, seed, turn):
    """What makes some episodes of Talk fail, in their first turn or later."""
    return f"yes {seed} {turn}" if env.spec.id == "interop_envs:Talk" else env.sample_action()


async def played(client, id, seed):
    """An episode as what the client saw; None for one that failed."""
    with gem.make(id) as local:
        local.reset(seed=seed)
        seen = [await client.reset(id=id, seed=seed)]
        while not seen[-1].done:
            action = said(local, seed, len(seen))
            try:
                seen.append(await client.step({"message": action}))
            except RuntimeError as error:
                if "the episode failed" not in str(error):
                    raise
                return None
            local.step(action)
        return seen


def locally(id, seed):
    with gem.make(id) as env:
        seen = [(env.reset(seed=seed)[0], None, False)]
        while not seen[-1][2]:
            step = env.step(said(env, seed, len(seen)))
            seen.append((step.observation, step.reward, step.done))
        return seen


def test_sixty_episodes_of_four_ids_in_many_clients_at_once_are_those_played_locally(url):
    plan = [(id, seed) for seed in range(15) for id in IDS]

    async def play_all():
        async def one(part):
            async with client_of(url) as client:
                return [await played(client, id, seed) for id, seed in part]

        return [each for part in await asyncio.gather(*(one(plan[n::12]) for n in range(12))) for each in part]

    order = [each for n in range(12) for each in plan[n::12]]
    episodes = asyncio.run(play_all())

    failed = 0
    for (id, seed), seen in zip(order, episodes, strict=True):
        if seen is None:
            with pytest.raises(OSError, match="the env is broken"):
                locally(id, seed)
            failed += 1
            continue
        assert all(isinstance(each, StepResult) for each in seen)
        assert [(each.observation["message"], each.reward, each.done) for each in seen] == locally(id, seed)
        assert seen[0].metadata["seed"] == seed
        assert seen[-1].observation["success"] in (True, False)
    assert 0 < failed < 15  # of those of Talk, some


def test_the_synchronous_client_plays_too_and_reads_the_state(url):
    with SyncEnvClient(client_of(url)) as client:
        client.reset(id="core:Echo-v0", seed=3, episode_id="mine")
        client.step({"message": "x"})
        state = State(**client.state())

    assert (state.episode_id, state.step_count) == ("mine", 1)


def test_a_server_is_used_by_url_alone_with_its_token_in_it(url):
    """As by a client that does not take headers, such as that of verifiers."""

    async def play():
        async with GenericEnvClient(base_url=url.replace("//", f"//gem:{TOKEN}@")) as client:
            return await client.reset(id="core:Echo-v0", seed=1)

    assert asyncio.run(play()).metadata["id"] == "core:Echo-v0"


def test_a_refusal_raises_in_the_client_and_the_session_plays_on(url):
    async def play():
        async with client_of(url) as client:
            for wrong in ({"id": "os:system"}, {"id": "core:Echo-v0", "seed": -1}, {}):
                with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                    await client.reset(**wrong)
            return await client.reset(id="core:Echo-v0")

    assert asyncio.run(play()).reward is None


def test_the_schema_is_one_that_openenv_reads():
    from gem_interop.serve.protocol import SCHEMAS

    assert SchemaResponse(**SCHEMAS).action["required"] == ["message"]
