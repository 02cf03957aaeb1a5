"""The agent loop by itself, and in the worker of verl's older trainers, without Ray."""

import asyncio
import json
import pickle
import warnings
from collections import Counter

import pytest
from agreement import Trained, assert_returns_are_those_of_a_replay, assert_what_was_read_and_said_is_trained
from samples import CHATML, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING

from gem.errors import ConfigError, SpecError
from gem_interop.playing import start_of

with warnings.catch_warnings(action="ignore"):  # verl's own
    import numpy as np
    import torch
    import verl_cpu
    from verl_parts import (
        AgentLoopWorker,
        DataProto,
        DictConfigWrap,
        RLHFDataset,
        TokenOutput,
        compute_advantage,
        of_outputs,
        settings,
    )

    from gem_interop import verl

pytestmark = pytest.mark.filterwarnings("ignore")
FORGETS = CHATML.replace("m.content }}", "m.content.split('</think>')[-1] if m.role == 'assistant' else m.content }}")
SAMPLING = {"temperature": 1.0, "logprobs": True}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    monkeypatch.setenv("GEM_RESULTS", str(tmp_path / "results"))
    return tmp_path


def results(folder):
    return [pickle.loads(path.read_bytes()) for path in (folder / "results").iterdir()]


def batch(starts, group):
    """What verl's trainer passes to its workers."""
    columns = {"agent_name": np.array(["gem"] * len(starts) * group, dtype=object)}
    prompts = np.empty(len(starts) * group, dtype=object)
    prompts[:] = [row["prompt"] for row in starts for _ in range(group)]
    uids = np.array([str(number // group) for number in range(len(prompts))], dtype=object)
    return DataProto(non_tensor_batch={**columns, "raw_prompt": prompts, "uid": uids})


class Says:
    """A server that always says the same."""

    def __init__(self, text, **fields):
        self.ids, self.fields, self.asked = tokenizer().encode(text), fields, []

    async def generate(self, request_id, *, prompt_ids, sampling_params, priority):
        self.asked.append((request_id, prompt_ids, sampling_params))
        return TokenOutput(token_ids=self.ids, log_probs=[-1.0] * len(self.ids), **self.fields)


def play(folder, server, *more, chat=CHATML, start=None, of_v1=True, **loop):
    """Play one episode with a loop as verl's workers build it."""
    config = settings(folder, *more)
    tokens = tokenizer()
    tokens.chat_template = chat
    agent = verl.GemAgentLoop(
        DictConfigWrap(config), server, tokens, None, RLHFDataset, DictConfigWrap(config.data), **loop
    )
    row = {"raw_prompt": start or verl.rows("interop_envs:Talk", 1, seed=7)[0]["prompt"]}
    return asyncio.run(agent.run(SAMPLING, **row, **({"session_id": 2} if of_v1 else {})))


def test_the_worker_of_the_older_trainers_gets_one_output_for_each_episode(folder):
    worker = AgentLoopWorker(settings(folder, max_new_tokens=6, retries=9), verl_cpu.Model(f"{folder}/model"))
    starts = verl.rows(["interop_envs:Talk"], 14)
    data = asyncio.run(worker.generate_sequences(batch(starts, 4)))

    played = [result for result in results(folder) if result.failure is None]
    returns = {tuple(result.segments[0].response_ids): result.total_reward for result in played}
    rows = []
    for number in range(len(data)):
        there = data.batch["attention_mask"][number].bool()
        length = int(there[200:].sum())
        row = {name: data.batch[name][number][:length].tolist() for name in ("responses", "response_mask")}
        ids = data.batch["input_ids"][number][there]
        with torch.no_grad():
            scores = worker.llm_client.model(ids[None]).logits[0, :-1] / 0.8
        logprobs = scores.log_softmax(-1).gather(-1, ids[1:, None])[-length:, 0].tolist()
        rows.append(Trained(ids.tolist(), row["response_mask"], logprobs))
        assert float(data.batch["rm_scores"][number].sum()) == pytest.approx(returns[tuple(row["responses"])])
    assert len(rows) == 56
    assert_what_was_read_and_said_is_trained(rows, played)
    assert_returns_are_those_of_a_replay(played)
    groups = Counter(data.non_tensor_batch["gem_seed"].tolist())
    assert groups == {json.loads(row["prompt"][0]["content"])["seed"]: 4 for row in starts}
    turns, scores = data.non_tensor_batch["turn_scores"], data.batch["rm_scores"].sum(-1).tolist()
    assert [sum(rewards) for rewards in turns] == pytest.approx(scores)


def test_a_failed_episode_has_no_output_and_stops_workers_that_need_one(folder):
    failing = Says("\r<|im_end|>")  # 13, which Talk does not bear
    assert play(folder, failing) == []
    assert len(failing.asked) == 3
    with pytest.raises(RuntimeError, match="OSError: the env is broken"):
        play(folder, failing, of_v1=False, retries=0)
    assert play(folder, Says("a", stop_reason="aborted"), retries=0) == []


def test_verl_compares_an_episode_with_those_of_its_group_that_are_in_the_batch():
    def advantages(rewards, masks, keys=None):
        mask = torch.tensor(masks)[:, None].float()
        scores = {"token_level_rewards": torch.tensor(rewards)[:, None], "response_mask": mask}
        data = DataProto.from_dict(tensors=scores, non_tensors={"uid": np.array(["a"] * len(rewards), dtype=object)})
        given = {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False}
        data = of_outputs(data, keys, **given) if keys else compute_advantage(data, **given)
        return data.batch["advantages"][:, 0].tolist()

    # Left out, a failed episode changes nothing; with a mask of zeros it is a 0 in the mean of the others.
    assert advantages([1.0, 0.5], [1, 1]) == pytest.approx([0.25, -0.25])
    assert advantages([1.0, 0.5, 0.0], [1, 1, 0]) == pytest.approx([0.5, 0.0, 0.0])
    assert advantages([0.5], [1]) == pytest.approx([0.5])
    # Of an episode with two outputs, one counts.
    assert advantages([1.0, 1.0, 0.5], [1, 1, 1], ["a_0_0", "a_0_1", "a_1_0"]) == pytest.approx([0.25, 0.25, -0.25])


def test_an_episode_whose_history_is_rewritten_is_several_outputs_or_is_kept_as_it_was_read(folder):
    server = Says("<think>why</think>b<|im_end|>")
    outputs = play(folder, server, chat=FORGETS)
    assert len(outputs) == len(server.asked) > 1
    assert len({request for request, _, _ in server.asked}) == 1
    for output, (_, read, _) in zip(outputs, server.asked, strict=True):
        assert (output.prompt_ids, output.response_ids) == (read, server.ids)
        assert output.response_logprobs == [-1.0] * len(server.ids)
    assert len({output.reward_score for output in outputs}) == 1
    assert outputs[0].num_turns == 2 * len(server.asked)

    kept = play(folder, server, chat=FORGETS, of_v1=False)
    assert sum(kept.response_mask) == len(outputs) * len(server.ids)
    with pytest.raises(ConfigError, match="several segments"):
        play(folder, server, chat=FORGETS, of_v1=False, history="template")


def test_a_reply_has_the_room_that_verl_has_for_it(folder):
    server = Says("x" * 50)
    [output] = play(folder, server, "data.max_response_length=120", max_new_tokens=50)
    asked = [params["max_tokens"] for _, _, params in server.asked]
    assert (asked[0], max(asked)) == (50, 50)
    assert asked[-1] < 50
    assert len(output.response_ids) <= 120
    assert all(params["stop_token_ids"] and params["temperature"] == 1.0 for _, _, params in server.asked)
    with pytest.raises(ConfigError, match="prompt_length is 10"):
        play(folder, server, "data.max_prompt_length=10", of_v1=False)


def test_mistakes_are_named(folder):
    with pytest.raises(ConfigError, match="made by the module's rows"):
        play(folder, Says("a"), start=[{"role": "user", "content": "What is 2 + 2?"}])
    with pytest.raises(ConfigError, match="score is 'return' or 'success'"):
        play(folder, Says("a"), score="best")
    with pytest.raises(SpecError, match="takes no argument 'loud'"):
        play(folder, Says("a"), env_kwargs={"loud": True})


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = verl.rows(IDS, 3, SEED, evaluation=evaluation)
        assert [start_of(row["prompt"][0]["content"]) for row in made] == expected
