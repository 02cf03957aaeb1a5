"""Episodes by SkyRL's own generator: what its trainer would get is what was read and said."""

import asyncio
import random
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
import skyrl_gym
import torch
from agreement import (
    Trained,
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from samples import tiny_model, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING

from gem.episode import Completion
from gem.errors import ConfigError
from gem_interop.session import Result
from gem_interop.skyrl import EpisodeFailed, GemTextEnv, WithoutFailed, register, rows

pytestmark = pytest.mark.filterwarnings("default")  # SkyRL's own
LAUNCH = runpy.run_path(str(Path(__file__).parents[2] / "examples/frameworks/skyrl_rollouts.py"))
STARTS, GROUP = 20, 4
LIMITS = {"max_turns": 8, "max_new_tokens": 6, "max_context": 4096}


class Kept(GemTextEnv):
    """Keeps the envs, by the task that plays them."""

    made: ClassVar["dict[asyncio.Task, Kept]"] = {}

    def __init__(self, *given, **settings):
        super().__init__(*given, **settings)
        self.made[asyncio.current_task()] = self


class Watched(LAUNCH["Engine"]):
    """Keeps what was read and sampled, and the env, by the trajectory."""

    read: ClassVar["dict[str, list]"] = {}
    envs: ClassVar["dict[str, Kept]"] = {}

    async def generate(self, input_batch, model=None):
        output = await super().generate(input_batch, model)
        [session], [ids] = input_batch["session_ids"], input_batch["prompt_token_ids"]
        said = (list(ids), list(output["response_ids"][0]), list(output["response_logprobs"][0]))
        self.read.setdefault(session, []).append(said)
        self.envs[session] = Kept.made[asyncio.current_task()]
        return output


@pytest.fixture(scope="module")
def played():
    skyrl_gym.register(id="kept", entry_point=Kept)
    torch.manual_seed(0)
    data = rows("interop_envs:Talk", STARTS, name="kept")
    output = LAUNCH["play"](tiny_model(), tokenizer(), data, group=GROUP, **LIMITS, engine=Watched)
    names = [f"{start}_{number}" for start in range(STARTS) for number in range(GROUP)]
    return output, [with_ids(Watched.envs[name].result, Watched.read[name]) for name in names]


def with_ids(result, read) -> Result:
    """The episode with the ids of the engine, which SkyRL shows no env."""
    turns, before = [], 0
    for turn, (ids, said, logprobs) in zip(result.episode.turns, read, strict=False):
        completion = Completion(turn.action, tuple(ids[before:]), tuple(said), tuple(logprobs))
        turns.append(replace(turn, completion=completion))
        before = len(ids) + len(said)
    return Result(replace(result.episode, turns=tuple(turns)))


def advantages(output) -> list[float]:
    """By SkyRL's own GRPO."""
    from skyrl.backends.skyrl_train.utils.ppo_utils import compute_grpo_outcome_advantage

    longest = max(map(len, output["rewards"]))
    padded = torch.tensor([each + [0.0] * (longest - len(each)) for each in output["rewards"]])
    groups = [number // GROUP for number in range(len(padded))]
    return compute_grpo_outcome_advantage(padded, torch.ones_like(padded), groups)[0][:, 0].tolist()


def test_what_was_read_and_said_is_trained_and_a_failed_episode_changes_nothing(played):
    output, results = played
    model = tiny_model().eval()
    found = []
    for prompt, response, mask, logprobs, advantage in zip(
        output["prompt_token_ids"],
        output["response_ids"],
        output["loss_masks"],
        output["rollout_logprobs"],
        advantages(output),
        strict=True,
    ):
        ids = torch.tensor([[*prompt, *response]])
        with torch.no_grad():
            scores = model(ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
        again = scores[-len(response) :].tolist()
        sampled = [(old, new) for old, new, on in zip(logprobs, again, mask, strict=True) if on]
        assert [new for _, new in sampled] == pytest.approx([old for old, _ in sampled], abs=2e-5, rel=0)
        found.append(Trained([*prompt, *response], mask, again, advantage))
    pairs = assert_what_was_read_and_said_is_trained(found, results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)

    failed = [row for row, result in zip(found, results, strict=True) if result.failure is not None]
    assert len(found) - len(pairs) == len(failed) > 0
    assert all(not any(row.mask) for row in failed)
    assert [row.advantage for row in failed] == pytest.approx([0.0] * len(failed), abs=1e-5)


def test_returns_and_the_rewards_of_turns_are_those_of_a_local_replay(played):
    output, results = played
    assert_returns_are_those_of_a_replay(results)
    for result, rewards, mask in zip(results, output["rewards"], output["loss_masks"], strict=True):
        if result.failure is None:
            ends = [at for at, on in enumerate(mask) if on and not (mask[at + 1 : at + 2] or [0])[0]]
            assert [rewards[at] for at in ends] == pytest.approx(list(result.episode.rewards))
            assert sum(rewards) == pytest.approx(result.total_reward)
    succeeded = [result.success for result in results if result.failure is None]
    assert output["rollout_metrics"]["environment/success"] == pytest.approx(sum(succeeded) / len(succeeded))
    assert output["rollout_metrics"]["environment/gem_failed"] == pytest.approx(1 - len(succeeded) / len(results))


def text_env(**settings):
    return GemTextEnv(extras={"gem_id": "interop_envs:Talk", "gem_seed": 0}, **settings)


def test_an_episode_is_played_in_messages_as_a_session_plays_it():
    env = skyrl_gym.make("gem", extras={"gem_id": "game:GuessTheNumber-v0-easy", "gem_seed": 3, "max_turns": 2})
    messages, _ = env.init([{"role": "user", "content": "a start"}])
    assert [message["role"] for message in messages] == ["user"]
    first = env.step("\\boxed{1}")
    assert ([message["role"] for message in first["observations"]], first["done"]) == (["user"], False)
    assert env.step("\\boxed{2}")["done"]  # SkyRL's max_turns
    assert env.get_metrics() == {"success": 0.0, "gem_failed": 0.0}
    assert env.result.episode.truncated
    env.close()


def test_a_failure_ends_the_training_unless_the_generator_leaves_it_out():
    broken = next(text for text in map(str, range(1000)) if sum(map(ord, text)) % 13 == 0)
    env = text_env()
    env.init([])
    with pytest.raises(EpisodeFailed, match="OSError: the env is broken"):
        env.step(broken)


class Output:
    """What a generator of SkyRL returns, of three groups: the second lost one episode, and the third both."""

    async def generate(self, input_batch, disable_tqdm=False):
        failed = [0, 0, 1, 0, 1, 1]
        return {
            "rewards": [[0.0, each] for each in (1.0, 2.0, 0.0, 6.0, 0.0, 0.0)],
            "response_ids": [[7, 8]] * 6,
            "loss_masks": [[1, 1]] * 6,
            "env_metrics": [{"gem_failed": each} for each in failed],
        }


@pytest.mark.parametrize("named", [True, False])
def test_a_failed_episode_has_the_mean_of_the_others_of_its_group(named):
    class Generator(WithoutFailed, Output):
        pass

    starts = [SimpleNamespace(instance_id=str(number // 2)) for number in range(6)] if named else None
    extras = [{"gem_id": "a", "gem_seed": number // 2} for number in range(6)]
    output = asyncio.run(Generator().generate({"trajectory_ids": starts, "env_extras": extras}))
    assert [sum(each) for each in output["rewards"]] == [1.0, 2.0, 6.0, 6.0, 3.0, 3.0]
    assert [sum(each) for each in output["loss_masks"]] == [2, 2, 0, 2, 0, 0]


def test_success_may_be_the_only_reward():
    for seed in range(20):
        env = GemTextEnv(extras={"gem_id": "interop_envs:Talk", "gem_seed": seed}, score="success")
        env.init([])
        done, rewards, rng = False, [], random.Random(seed)
        while not done:
            step = env.step(rng.choice(["a", "b", "c"]))
            done = step["done"]
            rewards.append(step["reward"])
        assert rewards == [0.0] * (len(rewards) - 1) + [float(env.result.success)]


def test_bad_rows_and_tools_that_skyrl_cannot_pass_are_refused():
    with pytest.raises(ConfigError, match="needs the columns gem_id and gem_seed"):
        GemTextEnv(extras={})
    with pytest.raises(ConfigError, match="score is 'return' or 'success', not 'best'"):
        register("other", score="best")
    with pytest.raises(ConfigError, match="choose a call format of text"):
        text_env(wrappers={"name": "tool_env", "tools": "interop_envs:add", "format": "openai"}).init([])


register()


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = rows(IDS, 3, SEED, evaluation=evaluation)
        assert [(row["gem_id"], row["gem_seed"]) for row in made] == expected
