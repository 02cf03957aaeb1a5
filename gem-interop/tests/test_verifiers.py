"""Episodes as rollouts of verifiers: what its trainers are given is what was read and said."""

import asyncio
import contextlib
import json
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import verifiers.v1 as vf
from agreement import assert_returns_are_those_of_a_replay
from chat_envs import Sums
from starting import EVALUATION, IDS, SEED, TRAINING
from token_server import token_server
from verifiers.v1.serve import EnvClient, EnvServer

from gem.testing.chat_server import Trouble, chat_server
from gem_interop.verifiers import GemEnv, GemHarness, GemTaskset, GemTasksetConfig

pytestmark = pytest.mark.filterwarnings("default")  # those of verifiers and transformers
EXAMPLE = Path(__file__).parents[2] / "examples" / "frameworks" / "verifiers_eval.py"
GUESS, TALK, SUMS = "game:GuessTheNumber-v0-easy", "interop_envs:Talk", "chat_envs:Sums"
NATIVE = {"wrappers": [{"name": "tool_env", "format": "openai"}]}


def rollouts(model, *, agent=None, each=1, settings=None, **taskset):
    """Play every task of a taskset."""
    data = {"taskset": {"id": "gem-verifiers", **taskset}, "agent": agent or {}, **(settings or {})}
    env = vf.load_environment(vf.resolve_env_config(data))
    assert isinstance(env, GemEnv)

    async def play():
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, each)]
            return await asyncio.gather(*(env.run_slot(slot, model) for slot in slots))

    return asyncio.run(play())


def chats(server, **sampling):
    client = vf.EvalClientConfig(base_url=server.url, api_key_var="NO_KEY")
    return vf.ModelContext("any", client, vf.SamplingConfig(**sampling))


def tokens(server, renderer):
    client = vf.TrainClientConfig(
        base_url=server.url, api_key_var="NO_KEY", renderer={"name": renderer}, renderer_model_name=server.tokenizer
    )
    return vf.ModelContext(server.tokenizer, client, vf.SamplingConfig(max_tokens=6))


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with token_server(str(tmp_path_factory.mktemp("tokenizer"))) as server:
        yield server


@pytest.fixture(scope="module")
def played(engine):
    """Eighty episodes with the client that verifiers trains with, and a renderer that keeps what was sampled."""
    return rollouts(tokens(engine, "prime-qwen3"), env=TALK, tasks=20, each=4)


def good(episodes):
    return [episode.traces[0] for episode in episodes if episode.ok]


def assert_ids_are_those_of_the_engine(traces, engine):
    """Every branch is what was read and sampled by a request, and what is sampled is in one node, as it was sampled."""
    for trace in traces:
        asked = [each for each in engine.asked if each.session == trace.id]
        read_and_said = [each.prompt + each.said for each in asked]
        assert all(branch.token_ids in read_and_said for branch in trace.branches)
        sampled = [node for node in trace.nodes if any(node.mask)]
        for node, each in zip(sampled, asked, strict=True):
            trained = [id for id, mask in zip(node.token_ids, node.mask, strict=True) if mask]
            assert (trained, list(node.logprobs)) == (each.said, each.logprobs)


def test_the_ids_read_and_sampled_are_those_of_the_trace_and_have_its_probabilities(played, engine):
    traces = good(played)
    assert len(traces) >= 50
    assert_ids_are_those_of_the_engine(traces, engine)
    for trace in traces:
        [branch] = trace.branches
        ids = torch.tensor([branch.token_ids])
        with torch.no_grad():
            scores = engine.model(ids).logits[0, :-1].float().log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
        places = [place for place, mask in enumerate(branch.sampled_mask) if mask]
        again = [float(scores[place - 1]) for place in places]
        assert again == pytest.approx([branch.logprobs[place] for place in places], abs=2e-5, rel=0)


def test_a_renderer_that_renders_anew_makes_branches_with_the_ids_that_were_read(engine):
    traces = good(rollouts(tokens(engine, "default"), env=TALK, tasks=12))
    assert any(len(trace.branches) > 1 for trace in traces)
    assert_ids_are_those_of_the_engine(traces, engine)


def test_the_reward_is_the_return_of_a_local_replay_and_the_turns_have_theirs(played):
    traces = good(played)
    assert_returns_are_those_of_a_replay([trace.state.result for trace in traces])
    for trace in traces:
        said, kept = trace.state.result, trace.info["gem"]
        assert trace.reward == pytest.approx(said.total_reward) == pytest.approx(sum(kept["rewards"]))
        assert len(kept["rewards"]) == trace.num_turns == trace.metrics["turns"]
        assert trace.metrics["success"] == said.success
        assert (trace.stop_condition, kept["env"]) == ("env_terminated", TALK)
        assert (kept["seed"], f"{TALK}#{kept['seed']}") == (said.episode.seed, trace.task.data.name)
    assert len({trace.info["gem"]["seed"] for trace in traces}) > 10


def test_an_env_that_fails_is_an_error_of_its_rollout_and_never_a_reward(played):
    failed = [episode for episode in played if not episode.ok]
    assert failed
    for episode in failed:
        [trace] = episode.traces
        assert (trace.ok, trace.rewards, trace.metrics, trace.state.result) == (False, {"return": None}, {}, None)
        assert "OSError: the env is broken" in trace.last_error.message
        assert episode.last_error.type == "EnvError"
        assert "in _step" in trace.last_error.traceback


def test_an_env_that_fails_to_reset_is_an_error_before_any_request():
    with chat_server(lambda messages: "0") as server:
        [episode] = rollouts(chats(server), env=SUMS, tasks=1, env_kwargs={"broken": True})
        assert (episode.ok, server.requests) == (False, 0)
    assert "no reset today" in episode.last_error.message
    assert episode.traces[0].rewards == {"return": None}


def test_an_engine_that_fails_is_an_error_and_no_reward():
    with chat_server(lambda messages: "hello", Trouble(garble=1.0)) as server:
        [episode] = rollouts(chats(server), env=TALK, tasks=1)
    [trace] = episode.traces
    assert (episode.ok, trace.rewards, trace.stop_condition) == (False, {"return": None}, "provider_error")


def test_envs_step_in_threads_and_are_closed_in_the_end():
    with chat_server(lambda messages: "hello") as server:
        episodes = rollouts(chats(server), env="chat_envs:Together", tasks=8)
        assert [trace.reward for trace in good(episodes)] == [1.0] * 8
        rollouts(chats(server), env=SUMS, tasks=4, settings={"max_envs": 2})
    assert not Sums.open


def adds(messages):
    """A model that asks the tool, and says what it was told."""
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"]
    a, b = re.findall(r"\d+", messages[-1]["content"])[:2]
    call = {"name": "add", "arguments": json.dumps({"a": int(a), "b": int(b)})}
    call = {"id": f"call-{random.random()}", "type": "function", "function": call}
    return {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}


def test_tools_of_the_chat_api_are_in_the_request_and_their_results_are_its_messages():
    with chat_server(adds) as server:
        traces = good(rollouts(chats(server), env=SUMS, tasks=4, **NATIVE))
        assert all(body["tools"][0]["function"]["name"] == "add" for body in server.bodies)
    assert [(trace.reward, trace.metrics["success"], len(trace.tool_messages)) for trace in traces] == [
        (1.0, 1.0, 1)
    ] * 4
    assert all(trace.tool_messages[0].tool_call_id == trace.assistant_messages[0].tool_calls[0].id for trace in traces)


def test_a_harness_that_does_not_know_the_tools_is_refused():
    with chat_server(adds) as server:
        [episode] = rollouts(chats(server), env=SUMS, tasks=1, agent={"harness": {"id": "null"}}, **NATIVE)
    assert "leave --env.agent.harness unset" in episode.last_error.message


def test_texts_that_end_a_reply_are_in_the_request_and_what_the_server_left_out_is_put_back():
    def answer(messages):
        if len(messages) > 1:
            return re.findall(r"\d+", messages[-1]["content"])[0]
        a, b = re.findall(r"\d+", messages[0]["content"])[:2]
        return f'<add>{{"a": {a}, "b": {b}}}'

    with chat_server(answer) as server:
        [trace] = good(rollouts(chats(server), env=SUMS, tasks=1, wrappers=[{"name": "tool_env", "format": "tags"}]))
        assert server.bodies[0]["stop"] == ["</add>"]
    assert (trace.reward, trace.num_turns) == (1.0, 2)


def test_a_limit_of_verifiers_truncates_the_episode_and_keeps_its_rewards():
    with chat_server(lambda messages: "hello") as server:
        traces = good(rollouts(chats(server), env=TALK, tasks=12, agent={"max_turns": 1}))
    cut = [trace for trace in traces if trace.stop_condition == "max_turns"]
    assert cut
    assert len(traces) == 12
    for trace in cut:
        assert (trace.metrics["truncated"], trace.metrics["success"], trace.is_truncated) == (1.0, 0.0, True)
        assert trace.reward == trace.info["gem"]["rewards"][0] > 0


def test_a_context_that_is_full_truncates_the_episode(tmp_path):
    with token_server(str(tmp_path), longest=80) as server:
        traces = good(rollouts(tokens(server, "prime-qwen3"), env=TALK, tasks=12))
    cut = [trace for trace in traces if trace.metrics["truncated"]]
    assert cut
    assert all(trace.stop_condition == "env_truncated" and trace.num_turns >= 1 for trace in cut)
    assert all(trace.reward == pytest.approx(sum(trace.info["gem"]["rewards"])) for trace in cut)


def test_settings_that_the_env_refuses_are_refused_before_any_rollout():
    model = vf.ModelContext("any", vf.EvalClientConfig(base_url="http://nowhere.invalid/v1", api_key_var="NO_KEY"))
    with pytest.raises(Exception, match="no argument 'speed'"):
        rollouts(model, env=SUMS, tasks=1, env_kwargs={"speed": 3})
    with pytest.raises(Exception, match="which env"):
        rollouts(model, tasks=1)


def test_tasks_are_divided_among_ids_and_end_only_if_their_number_is_given():
    settings = {"taskset": {"id": "gem-verifiers", "env": [TALK, SUMS], "seed": 5}}
    endless = vf.load_environment(vf.resolve_env_config(settings)).taskset
    settings["taskset"]["tasks"] = 3
    three = list(vf.load_environment(vf.resolve_env_config(settings)).taskset)
    assert [task.data.env for task in three] == [TALK, SUMS, TALK]
    assert (endless.bounded, [task.key for task in endless.take(3)]) == (False, [task.key for task in three])
    assert type(endless).INFINITE  # prime-rl asks the class, and otherwise makes a list of the tasks

    class Mine(GemTaskset):
        def load(self):
            yield "mine"

    mine = Mine(endless.config)
    assert (type(mine).INFINITE, list(mine.load())) == (True, ["mine"])


def test_the_launch_file_plays_and_leaves_failures_out_of_its_means(monkeypatch, capsys):
    def launch(url):
        shown = ["any", "--url", url, "--env", GUESS, "--env", TALK, "--starts", "4"]
        monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *shown])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(EXAMPLE), run_name="__main__")
        return end.value.code, capsys.readouterr().out

    with chat_server(lambda messages: "hello") as server:
        code, said = launch(server.url)
    assert code == 0
    assert "4 rollouts; 0 failed and are in no mean" in said

    code, said = launch(server.url)  # which has stopped
    assert code == "every rollout failed"
    assert said.startswith("0 rollouts; 4 failed and are in no mean")


def test_the_command_of_verifiers_finds_the_plugin(tmp_path):
    with chat_server(lambda messages: "hello") as server:
        command = [
            Path(sys.executable).with_name("vf-eval"), "gem-verifiers", "--env.taskset.env", GUESS,
            "--env.taskset.tasks", "2", "-m", "any", "--client.base-url", server.url, "--client.api-key-var", "NO_KEY",
            "--no-push", "--no-rich", "--output-dir", tmp_path,
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    [saved] = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [episode["ok"] for episode in episodes] == [True, True]
    assert all(episode["traces"][0]["info"]["gem"]["env"] == GUESS for episode in episodes)
    assert all("score" in episode["traces"][0]["rewards"]["return"] for episode in episodes)


def test_the_null_harness_of_verifiers_plays_the_same_episodes(engine, monkeypatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")  # of uv, with which it starts its program
    episodes = rollouts(tokens(engine, "prime-qwen3"), env=TALK, tasks=6, agent={"harness": {"id": "null"}})
    traces = good(episodes)
    assert traces
    assert all(trace.agent.config.harness.id == "null" for trace in traces)
    assert_ids_are_those_of_the_engine(traces, engine)
    assert_returns_are_those_of_a_replay([trace.state.result for trace in traces])


def test_a_rollout_that_is_cancelled_frees_its_env():
    config = {"taskset": {"id": "gem-verifiers", "env": SUMS, "tasks": 2}, "max_envs": 1}
    env = vf.load_environment(vf.resolve_env_config(config))

    async def play(stalls, answers):
        first, second = env.taskset
        async with env.serving():
            running = asyncio.create_task(env.run_episode(first, chats(stalls)))
            while not stalls.requests:
                await asyncio.sleep(0.01)
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            return await env.run_episode(second, chats(answers))

    with chat_server(lambda messages: "0", Trouble(stall=1.0)) as stalls, chat_server(lambda messages: "0") as answers:
        assert asyncio.run(play(stalls, answers)).ok
    assert not Sums.open


def test_a_system_prompt_of_verifiers_opens_every_request_once(tmp_path):
    (tmp_path / "prompt.txt").write_text("Be brief.")
    with chat_server(adds) as server:
        rollouts(chats(server), env=SUMS, tasks=1, system_prompt=str(tmp_path / "prompt.txt"), **NATIVE)
        roles = [[message["role"] for message in body["messages"]] for body in server.bodies]
    assert roles == [["system", "user"], ["system", "user", "assistant", "tool"]]


def test_the_server_that_prime_rl_asks_plays_tasks_that_it_is_sent(engine):
    config = vf.resolve_env_config({"taskset": {"id": "gem-verifiers", "env": TALK, "tasks": 24}})
    model = tokens(engine, "prime-qwen3")

    async def play():
        server = EnvServer(config, address="tcp://127.0.0.1:0")
        running = asyncio.create_task(server.run())
        client = EnvClient(server.address)
        sent = [task.data.model_dump(mode="json") for task in vf.load_taskset(config.taskset)]
        try:
            return await asyncio.gather(*(client.run(model.client, model.model, model.sampling, each) for each in sent))
        finally:
            await client.close()
            running.cancel()
            await running

    episodes = asyncio.run(play())
    assert_ids_are_those_of_the_engine(good(episodes), engine)
    assert all(trace.reward == pytest.approx(sum(trace.info["gem"]["rewards"])) for trace in good(episodes))
    failed = [episode.traces[0] for episode in episodes if not episode.ok]
    assert failed
    assert all((trace.ok, trace.rewards) == (False, {"return": None}) for trace in failed)


def test_the_harness_is_ours_if_no_other_is_set():
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "gem-verifiers", "env": TALK}}))
    assert all(isinstance(harness, GemHarness) for harness in env._harnesses.values())


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = vf.load_taskset(GemTasksetConfig(id="gem-verifiers", env=IDS, tasks=3, seed=SEED, evaluation=evaluation))
        assert [(task.data.env, task.data.seed) for task in made] == expected
