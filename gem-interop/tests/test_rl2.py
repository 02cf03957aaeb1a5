"""Episodes by RL2's calls (commit 9161ede), written anew here: of RL2 and of SGLang, these are stubs."""

import asyncio
import enum
import sys
from collections import defaultdict
from types import ModuleType, SimpleNamespace

import pytest
import torch
from agreement import (
    Trained,
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from samples import CHATML, tiny_model, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING

from gem_interop.playing import start_of
from gem_interop.rl2 import Play, rows

pytestmark = pytest.mark.full
GROUP = 4


class Sample:
    class Status(enum.Enum):
        RUNNING = "running"
        DONE = "done"

    def __init__(self, row):
        self.sample, self.status, self.metrics = row, self.Status.RUNNING, defaultdict(list)


class Engine:
    """SGLang's `generate`, with the tiny model; it ignores every limit but that on ids."""

    def __init__(self, reason=None):
        self.model, self.reason, self.asked = tiny_model().eval(), reason, []

    async def __call__(self, url, endpoint, json):
        self.asked.append(json)
        ids, said = json["input_ids"], []
        with torch.no_grad():
            while len(said) < json["sampling_params"]["max_new_tokens"] and (not said or said[-1][1] != 258):
                scores = self.model(torch.tensor([ids + [id for _, id, _ in said]])).logits[0, -1].log_softmax(-1)
                id = int(torch.multinomial(scores.exp(), 1))
                said.append((float(scores[id]), id, None))
        reason = self.reason or ("stop" if said[-1][1] == 258 else "length")
        return {"text": "", "meta_info": {"output_token_logprobs": said, "finish_reason": {"type": reason}}}


class Kept(Play):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.results = []

    def ended(self, result):
        self.results.append(result)


def played(monkeypatch, env, episodes, engine=None, tokens=tokenizer, **settings):
    torch.manual_seed(1)
    engine = engine or Engine()
    stub = ModuleType("RL2.utils.communication")
    stub.async_request = engine
    monkeypatch.setitem(sys.modules, "RL2", ModuleType("RL2"))
    monkeypatch.setitem(sys.modules, "RL2.utils", ModuleType("RL2.utils"))
    monkeypatch.setitem(sys.modules, "RL2.utils.communication", stub)
    generate = Kept(**settings)
    config = SimpleNamespace(sampling_params={"temperature": 1.0, "max_new_tokens": 6, "stop": None})
    samples = [Sample(row) for row in rows(env, episodes // GROUP) for _ in range(GROUP)]

    async def play():
        await asyncio.gather(*(generate(config, tokens(), "http://router", sample) for sample in samples))
        await generate._player.close()

    asyncio.run(play())
    return samples, generate.results, engine


def trained(samples, model):
    """What RL2's loss is computed from, and its advantage: the return above the mean of the group."""
    totals = [sum(sum(each["rewards"]) for each in sample.state_dicts) for sample in samples]
    found = []
    for number, sample in enumerate(samples):
        group = totals[number // GROUP * GROUP :][:GROUP]
        for each in sample.state_dicts:
            first = each["action_mask"].index(1)
            with torch.no_grad():
                scores = model(torch.tensor([each["states"]])).logits[0, :-1].log_softmax(-1)
            again = scores.gather(-1, torch.tensor(each["states"])[1:, None])[:, 0].tolist()[first - 1 :]
            assert each["actions"] == [id * on for id, on in zip(each["states"], each["action_mask"], strict=True)]
            assert {len(values) for values in each.values()} == {len(each["states"])}
            advantage = totals[number] - sum(group) / GROUP
            found.append(Trained(each["states"], each["action_mask"][first:], again, advantage))
    return found


def test_what_was_read_and_said_is_trained_and_what_failed_was_played_again(monkeypatch):
    samples, results, engine = played(monkeypatch, "interop_envs:Talk", 60, retries=9)

    pairs = assert_what_was_read_and_said_is_trained(trained(samples, engine.model), results)
    assert_returns_are_those_of_a_replay(results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)
    assert sum(len(result.episode.turns) for result in results) < len(engine.asked)  # some were played again
    for sample in samples:
        assert sample.status is Sample.Status.DONE
        assert len(sample.metrics["response_length"]) == sample.metrics["turns"][0]


def test_a_template_that_rewrites_its_history_makes_several_sequences(monkeypatch):
    def forgetful():
        made = tokenizer()
        made.chat_template = "{% set messages = messages[-1:] %}" + CHATML.replace(
            "m in messages", "m in messages[-1:]"
        )
        return made

    samples, results, engine = played(
        monkeypatch, "interop_envs:Talk", 60, tokens=forgetful, retries=9, score="success"
    )

    assert_what_was_read_and_said_is_trained(trained(samples, engine.model), results)
    assert max(len(sample.state_dicts) for sample in samples) > 1
    for sample in samples:
        assert sum(sum(each["rewards"]) for each in sample.state_dicts) == sample.metrics["rewards"][0]
        assert sample.metrics["rewards"][0] in (0.0, 1.0)
    assert {tuple(each["sampling_params"]["stop_token_ids"]) for each in engine.asked} == {(258,)}


def test_what_rl2_cannot_leave_out_stops_the_run(monkeypatch):
    with pytest.raises(RuntimeError, match=r"RL2 cannot leave one out: .*the env is broken"):
        played(monkeypatch, "interop_envs:Talk", 60, retries=0)
    with pytest.raises(RuntimeError, match="does not fit 9 ids"):
        played(monkeypatch, "interop_envs:Talk", 4, max_context=9)
    with pytest.raises(RuntimeError, match=r"leave rollout\.train\.partial_rollout off"):
        played(monkeypatch, "interop_envs:Talk", 4, engine=Engine("abort"))


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = rows(IDS, 3, SEED, evaluation=evaluation)
        assert [start_of(row["prompt"]) for row in made] == expected
