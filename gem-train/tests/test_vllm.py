"""The engine vllm, with vLLM itself on CPU: `make test-vllm` runs this."""

import copy
from collections.abc import Iterator

import pytest
import torch
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem.episode import Completion
from gem.errors import ConfigError
from gem.rollout import Start, rollout
from gem.rollout.transcript import Transcript
from gem.vector import make_vec
from gem_train.engines.settings import VLLMSettings
from gem_train.engines.vllm.in_process import VLLMSampler
from gem_train.models.tiny import END, tiny_model, tiny_tokenizer

TEMPERATURE = 0.7
POSITIONS = 640
LONGEST = 24
"""The longest reply, in tokens."""
CLOSE = 1e-3
"""The largest difference of two log-probabilities that are the same but for rounding, in nats."""


@pytest.fixture(scope="module")
def sampler() -> Iterator[VLLMSampler]:
    model = random_model(0)
    model.config.eos_token_id = 7  # not what ends a reply in the chat template
    tokenizer = tiny_tokenizer([])
    made = VLLMSampler(
        model,
        ChatEncoder(tokenizer),
        max_new_tokens=LONGEST,
        temperature=TEMPERATURE,
        settings=VLLMSettings(max_model_len=POSITIONS, kv_cache_gib=0.1, sleep=True),
    )
    yield made
    made.close()


@pytest.fixture
def model(sampler: VLLMSampler) -> PreTrainedModel:
    """What the sampler samples from at the start of a test."""
    model = random_model(1)
    sampler.load(model.named_parameters(), 0)
    sampler.reseed(0)
    return model


def random_model(seed: int) -> PreTrainedModel:
    """A model with probabilities that are far from equal."""
    model = tiny_model(tiny_tokenizer([]), seed, head_dim=32).eval()
    return changed(model, seed)


def changed(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A copy of `model` with other weights."""
    model = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    return model


def asked(text: str, seed: int = 0, **info: object) -> Transcript:
    return Transcript(text, dict(info), start=Start(seed, "core:Echo-v0"))


def answers(sampler: VLLMSampler, transcripts: dict[int, Transcript]) -> dict[int, Completion]:
    """The replies; the conversations end."""
    sampler.send(transcripts)
    found = sampler.recv(min_results=len(transcripts))
    for slot in transcripts:
        sampler.forget(slot)
    return found


@torch.no_grad()
def gaps(model: PreTrainedModel, completion: Completion) -> torch.Tensor:
    """How far each token's log-probability is from what transformers computes."""
    ids = [*completion.prompt_ids, *completion.ids]
    logits = model(torch.tensor([ids])).logits[0, len(completion.prompt_ids) - 1 : -1] / TEMPERATURE
    expected = logits.log_softmax(-1).gather(-1, torch.tensor(completion.ids)[:, None])[:, 0]
    return (torch.tensor(completion.logprobs) - expected).abs()


def long(length: int) -> str:
    """A text of about so many ids."""
    return "".join(chr(33 + 7 * index % 90) for index in range(length))


def test_log_probabilities_are_those_at_the_temperature(sampler, model):
    found = answers(sampler, {slot: asked(long(5 + slot), slot) for slot in range(4)})
    assert max(gaps(model, each).max() for each in found.values()) < CLOSE


def test_a_sync_brings_every_weight(sampler, model):
    for version in (1, 2, 3):
        model = changed(model, version)
        sampler.load(model.named_parameters(), version)
        [completion] = answers(sampler, {0: asked(f"How are you {version}?")}).values()
        assert gaps(model, completion).max() < CLOSE
        assert completion.weight_versions == (sampler.version,) == (version,)


def test_after_a_sync_what_was_read_before_is_read_again(sampler, model):
    prompts = {slot: asked(long(150 + 100 * slot), slot) for slot in range(4)}
    for version in (1, 2):
        found = answers(sampler, prompts)
        assert max(gaps(model, each).max() for each in found.values()) < CLOSE
        model = changed(model, version)
        sampler.load(model.named_parameters(), version)
    assert max(gaps(model, each).max() for each in answers(sampler, prompts).values()) < CLOSE


def test_weights_may_change_in_the_middle_of_a_reply(sampler, model):
    prompts = {slot: asked(long(5 + 300 * slot), slot) for slot in range(2)}
    sampler.send(prompts)
    for _ in range(10):
        assert sampler.recv(timeout=0) == {}
    new = changed(model, 1)
    sampler.load(new.named_parameters(), 5)
    for slot, completion in sampler.recv(min_results=2).items():
        assert gaps(model, completion)[:10].max() < CLOSE
        assert gaps(new, completion)[10:].max() < CLOSE
        assert gaps(model, completion)[10:].max() > 100 * CLOSE
        assert completion.weight_versions == (0, 5)
        sampler.forget(slot)


def test_a_conversation_continues_from_turn_to_turn(sampler, model):
    transcript = asked(long(200))
    read: list[int] = []
    for turn in range(3):
        sampler.send({0: transcript})
        [completion] = sampler.recv().values()
        assert not completion.new_segment
        whole = Completion("", (*read, *completion.prompt_ids), completion.ids, completion.logprobs)
        assert gaps(model, whole).max() < CLOSE
        read += [*completion.prompt_ids, *completion.ids]
        transcript.add(completion, 0.0, f"Turn {turn}.", {})
    sampler.forget(0)
    rendered = sampler.chat.tokenizer.decode(read)
    assert rendered.startswith("<|user|>" + long(200))
    assert rendered.count("<|assistant|>") == 3


def test_equal_seeds_give_equal_replies_in_any_order_and_company(sampler, model):
    prompts = [asked(f"Number {seed}", seed) for seed in range(6)]
    together = answers(sampler, dict(enumerate(prompts)))
    reverse = answers(sampler, dict(enumerate(reversed(prompts))))
    assert [reverse[5 - slot].ids for slot in range(6)] == [together[slot].ids for slot in range(6)]
    assert answers(sampler, {9: prompts[3]})[9].ids == together[3].ids
    assert len({each.ids for each in together.values()}) == 6
    sampler.reseed(1)
    assert answers(sampler, {9: prompts[3]})[9].ids != together[3].ids


def test_tokens_are_drawn_with_their_probabilities(sampler, model):
    draws = 600
    sampler.max_new_tokens, longest = 1, sampler.max_new_tokens
    try:
        found = answers(sampler, {seed: asked("Draw.", seed) for seed in range(draws)})
    finally:
        sampler.max_new_tokens = longest
    first = torch.tensor([each.ids[0] for each in found.values()])
    prompt = torch.tensor([found[0].prompt_ids])
    with torch.no_grad():
        expected = (model(prompt).logits[0, -1] / TEMPERATURE).softmax(-1)
    seen = torch.bincount(first, minlength=len(expected)) / draws
    likely = expected > 0.01
    assert likely.sum() >= 5
    deviations = (seen - expected)[likely] / (expected * (1 - expected) / draws)[likely].sqrt()
    assert deviations.abs().max() < 4.5


def test_a_reply_ends_at_the_end_of_a_message_and_nowhere_else(sampler, model):
    found = answers(sampler, {seed: asked("Speak.", seed) for seed in range(64)})
    end = sampler.chat.tokenizer.convert_tokens_to_ids(END)
    for completion in found.values():
        ended = completion.ids[-1] == end
        assert completion.finish_reason == ("stop" if ended else "length")
        assert end not in completion.ids[:-1]
        assert ended or len(completion.ids) == LONGEST
        assert len(completion.logprobs) == len(completion.ids)
    assert len({each.finish_reason for each in found.values()}) == 2
    assert any(7 in each.ids[:-1] for each in found.values())  # the id at which vLLM by itself would end


def test_a_reply_ends_after_a_stop_text_also_one_that_is_a_special_token(sampler, model):
    free = answers(sampler, {seed: asked("Speak.", seed) for seed in range(64)})
    special = sampler.chat.tokenizer.convert_tokens_to_ids("<|user|>")
    slot = next(slot for slot, each in free.items() if special in each.ids)
    [stopped] = answers(sampler, {0: asked("Speak.", slot, stop=("<|user|>", "never said"))}).values()
    assert stopped.ids == free[slot].ids[: free[slot].ids.index(special) + 1]
    assert stopped.finish_reason == "stop"
    assert stopped.text.endswith("<|user|>")


def test_a_reply_ends_after_a_stop_text_that_spans_tokens(sampler, model):
    free = answers(sampler, {seed: asked("Speak.", seed) for seed in range(64)})
    pairs = ((slot, at) for slot, each in free.items() for at in range(1, len(each.ids) - 1))
    texts = ((slot, at, sampler.chat.text(free[slot].ids[at : at + 2])) for slot, at in pairs)
    slot, at, stop = next((slot, at, text) for slot, at, text in texts if len(text) == 2 and text.isalnum())
    [stopped] = answers(sampler, {0: asked("Speak.", slot, stop=(stop,))}).values()
    assert (stopped.ids, stopped.finish_reason) == (free[slot].ids[: at + 2], "stop")
    assert stopped.text.endswith(stop)


def test_a_reply_is_cut_at_the_limit_of_the_context_and_beyond_it_nothing_is_said(sampler, model):
    room = LONGEST // 2
    [probe] = answers(sampler, {0: asked(long(400))}).values()
    fits = POSITIONS - len(probe.prompt_ids) + 400
    found = answers(sampler, {0: asked(long(fits - room), 1), 1: asked(long(fits)), 2: asked(long(fits + 50))})
    assert len(found[0].prompt_ids) + room == POSITIONS
    assert (found[0].finish_reason, len(found[0].ids)) == ("context", room)
    assert gaps(model, found[0]).max() < CLOSE
    assert found[1].out_of_context
    assert found[2].out_of_context


def test_what_is_forgotten_is_not_sampled_further_and_its_slot_is_free(sampler, model):
    sampler.send({0: asked("First.", 1)})
    assert sampler.recv(timeout=0) == {}
    sampler.forget(0)
    assert not sampler._engine.has_unfinished_requests()
    sampler.send({0: asked("First.", 1), 1: asked("Second.", 2)})
    assert sampler.recv(timeout=0) == {}
    sampler.forget(0)
    sampler.send({0: asked("Third.", 3)})
    found = sampler.recv(min_results=2)
    assert sampler.chat.tokenizer.decode(found[0].prompt_ids).startswith("<|user|>Third.")
    assert len(found) == 2
    sampler.forget(0)
    sampler.forget(1)
    assert not sampler._engine.has_unfinished_requests()
    assert sampler.recv() == {}


def test_replies_in_progress_resume_after_sleep(sampler, model):
    prompts = {slot: asked(long(100 + 100 * slot), slot) for slot in range(2)}
    unbroken = answers(sampler, prompts)
    sampler.send(prompts)
    sampler.recv(timeout=0)
    sampler.sleep()
    assert sampler._engine.is_sleeping()
    with pytest.raises(RuntimeError, match="the 2 replies that were sent to it: it sleeps"):
        sampler.recv()
    sampler.wake()
    found = sampler.recv(min_results=2)
    for slot in prompts:
        sampler.forget(slot)
    assert {slot: each.ids for slot, each in found.items()} == {slot: each.ids for slot, each in unbroken.items()}
    assert max(gaps(model, each).max() for each in found.values()) < CLOSE


FRAGILE = '''
from gem import Step, TurnEnv

class Fragile(TurnEnv):
    """Three turns; about every third episode fails in its second."""

    def _reset(self, options):
        self.fails = self.rng.random() < 1 / 3
        return "Begin."

    def _step(self, action):
        if self.fails and self.turn == 2:
            raise RuntimeError("planted")
        return Step.ongoing("Continue.") if self.turn < 3 else Step.final("Done.", 1.0, success=True)

    def sample_action(self):
        return "Yes."
'''


def test_when_environments_fail_no_reply_of_the_others_is_lost(sampler, model, tmp_path, monkeypatch):
    (tmp_path / "fragile.py").write_text(FRAGILE)
    monkeypatch.syspath_prepend(tmp_path)
    with make_vec("fragile:Fragile", 4) as envs:
        episodes = list(rollout(sampler, envs, range(16)))
    failed = [episode for episode in episodes if episode.failure]
    assert sorted(episode.seed for episode in episodes) == list(range(16))
    assert 0 < len(failed) < 16
    assert all(len(episode.turns) == 3 for episode in episodes if not episode.failure)
    assert not sampler._engine.has_unfinished_requests()


def test_a_model_that_vllm_cannot_run_is_refused(sampler):
    with pytest.raises(ConfigError, match=r"temperature is 0, for the most likely tokens, or at least 0\.01"):
        VLLMSampler(random_model(0), sampler.chat, max_new_tokens=8, temperature=0.001)
    with pytest.raises(ConfigError, match="while another vLLM is open"):
        VLLMSampler(random_model(0), sampler.chat, max_new_tokens=8)
