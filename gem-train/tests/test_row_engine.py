"""The engine `hf`: what it samples is what one forward pass over the whole conversation says, whatever it saves."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel, Qwen3ForCausalLM

from gem.chat.encoder import ChatEncoder
from gem.episode import Completion, Start
from gem.rollout.transcript import Transcript
from gem_train.engines import row_attention
from gem_train.engines.conversations import shared_length
from gem_train.engines.hf import HFSampler
from gem_train.engines.row_attention import Chunk
from gem_train.engines.row_model import RowModel
from gem_train.engines.settings import HFSettings
from gem_train.models.tiny import tiny_tokenizer

MakeModel = Callable[..., PreTrainedModel]
Weights = dict[str, Tensor]

# Like a template that drops reasoning: of an earlier reply only the end is shown.
REWRITING = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.role == 'assistant' %}{{ m.content[2:] }}{% else %}{{ m.content }}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# Shows the first message alone, so that all prompts are the same.
FORGETTING = "<|user|>{{ messages[0].content }}<|end|>{% if add_generation_prompt %}<|assistant|>{% endif %}"
RULES = "These are the rules of the game, which all episodes share. "
TEMPERATURE = 0.7


@pytest.fixture(scope="module")
def model(make_model: MakeModel) -> PreTrainedModel:
    return make_model("Qwen3", max_position_embeddings=2048)


class Renamed(Qwen3ForCausalLM):
    """As transformers names the argument from 5.24 on."""

    def forward(self, cache: Any = None, **arguments: Any) -> Any:
        return super().forward(past_key_values=cache, **arguments)


def test_the_cache_is_given_by_the_name_that_the_model_has_for_it(model: PreTrainedModel) -> None:
    renamed = Renamed(model.config)
    renamed.load_state_dict(model.state_dict())
    expected = model(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False).logits[0, -1]

    for each in (model, renamed.eval()):
        _, logits = RowModel(each).logits([Chunk(0, 0, [1, 2, 3], True)])
        torch.testing.assert_close(logits[0], expected)


@pytest.fixture
def sampler(model: PreTrainedModel) -> HFSampler:
    return made(model)


def made(model: PreTrainedModel, template: str | None = None, length: int = 8, **settings: Any) -> HFSampler:
    tokenizer = tiny_tokenizer([])
    tokenizer.chat_template = template or tokenizer.chat_template
    return HFSampler(
        model, ChatEncoder(tokenizer), max_new_tokens=length, temperature=TEMPERATURE, settings=HFSettings(**settings)
    )


def copied(model: PreTrainedModel) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in model.named_parameters()}


def changed(weights: Weights, seed: int) -> Weights:
    generator = torch.Generator().manual_seed(seed)
    return {
        name: tensor + 0.1 * tensor.std().nan_to_num() * torch.randn(tensor.shape, generator=generator)
        for name, tensor in weights.items()
    }


@torch.inference_mode()
def scored(model: PreTrainedModel, context: list[int], number: int) -> Tensor:
    """The log-probabilities of the last `number` ids of a context, in one forward pass over all of it."""
    logits = model(input_ids=torch.tensor([context]), use_cache=False).logits[0, -number - 1 : -1]
    return (logits / TEMPERATURE).log_softmax(-1)[range(number), context[-number:]]


def extended(context: list[int], completion: Completion) -> list[int]:
    return [*([] if completion.new_segment else context), *completion.prompt_ids, *completion.ids]


class Reads:
    """What a sampler's model reads: the numbers of ids in each forward pass, and the rows of each group."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passes: list[int] = []
        self.rows: list[list[int]] = []
        logits = RowModel.logits

        def counting(rows: RowModel, chunks: Any) -> Any:
            self.passes.append(sum(chunk.length for chunk in chunks))
            self.rows.append([group.number for group in row_attention.grouped(chunks, torch.device("cpu"))[1]])
            return logits(rows, chunks)

        monkeypatch.setattr(RowModel, "logits", counting)


@pytest.mark.parametrize("template", [pytest.param(None, marks=pytest.mark.full), REWRITING])
@pytest.mark.parametrize(("rows", "prefill_tokens"), [(None, 2048), pytest.param(3, 11, marks=pytest.mark.full)])
def test_log_probabilities_are_those_of_the_whole_conversation_under_the_weights_in_force(
    model: PreTrainedModel, template: str | None, rows: int | None, prefill_tokens: int
) -> None:
    """At random: conversations that begin alike, arrive in any order, are forgotten, and get new weights between."""
    sampler = made(model, template, rows=rows, prefill_tokens=prefill_tokens)
    own = copied(model)
    rng = random.Random(rows or 0)
    past: dict[int, Transcript] = {}
    contexts: dict[int, list[int]] = {}
    asked: set[int] = set()
    episodes = replies = segments = 0
    try:
        while replies < 40:
            for slot in range(12):
                if slot not in past and rng.random() < 0.5:
                    text = RULES * rng.randint(0, 1) + "x" * rng.randint(0, 40)
                    past[slot] = Transcript(text, start=Start(episodes, group=slot))
                    contexts[slot] = []
                    episodes += 1
            ready = [slot for slot in past if slot not in asked and rng.random() < 0.7]
            sampler.send({slot: past[slot] for slot in ready})
            asked.update(ready)
            for slot, completion in sampler.recv(timeout=0).items():
                asked.discard(slot)
                contexts[slot] = extended(contexts[slot], completion)
                segments += completion.new_segment
                if len(completion.weight_versions) == 1:
                    expected = scored(model, contexts[slot], len(completion.ids))
                    torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
                    replies += 1
                past[slot].add(completion, 0.0, "y" * rng.randint(1, 30), {})
            if rng.random() < 0.08:
                sampler.load(changed(own, episodes).items(), sampler.version + 1)
            for slot in list(past):
                if len(past[slot].turns) == 4 or rng.random() < 0.01:
                    sampler.forget(slot)
                    asked.discard(slot)
                    del past[slot]
        assert sampler.version > 0
        assert (segments > 10) == (template is REWRITING)
    finally:
        sampler.load(own.items(), 0)


def test_a_reply_continues_under_the_new_weights_from_the_token_at_which_they_came(
    model: PreTrainedModel, sampler: HFSampler
) -> None:
    own = copied(model)
    other = changed(own, 1)
    sampler.load(own.items(), 4)
    sampler.send({0: Transcript(RULES)})
    for _ in range(3):
        assert sampler.recv(timeout=0) == {}
    sampler.load(other.items(), 5)
    try:
        completion = sampler.recv()[0]
        context = extended([], completion)
        after = scored(model, context, 8)
        sampler.load(own.items(), 6)
        before = scored(model, context, 8)
        found = torch.tensor(completion.logprobs)
        torch.testing.assert_close(found[:3], before[:3], atol=1e-4, rtol=0)
        torch.testing.assert_close(found[3:], after[3:], atol=1e-4, rtol=0)
        assert (before - after).abs().min() > 1e-3
        assert completion.weight_versions == (4, 5)
    finally:
        sampler.load(own.items(), 0)


def test_recv_without_a_timeout_to_spare_does_one_forward_pass(
    sampler: HFSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(monkeypatch)
    sampler.send({slot: Transcript("x" * slot) for slot in range(4)})
    for passes in range(1, 9):
        found = sampler.recv(4, timeout=0)
        assert len(reads.passes) == passes
        if found:
            break
    assert passes > 2
    assert sampler.recv(4, timeout=0.01) is not None
    started = time.monotonic()
    assert sampler.recv(timeout=5) == sampler.recv(timeout=5) == {} or time.monotonic() - started < 60


def test_replies_are_returned_and_admitted_between_the_tokens_of_others(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = made(model, length=40)
    reads = Reads(monkeypatch)
    # A text that ends with any token, and one that no reply has.
    at_once, never = {"stop": ["\ufffd", *map(chr, range(32, 127))]}, {"stop": ["\u2603\u2603"]}
    monkeypatch.setattr(sampler.chat, "stop_ids", ())
    sampler.send({0: Transcript("long", never), 1: Transcript("short", at_once)})
    first = sampler.recv()
    assert list(first) == [1]
    for slot in range(2, 6):
        sampler.send({slot: Transcript("short", at_once)})
        assert list(sampler.recv()) == [slot]
    assert list(sampler.recv()) == [0]
    assert len(reads.passes) == 40


def test_a_long_prompt_does_not_stop_the_replies_in_progress(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = made(model, length=30, prefill_tokens=20)
    monkeypatch.setattr(sampler.chat, "stop_ids", ())
    reads = Reads(monkeypatch)
    sampler.send({0: Transcript("short")})
    sampler.recv(timeout=0)
    reads.passes.clear()
    sampler.send({1: Transcript("z" * 200)})
    while sampler._conversations[1].request.ids == []:
        sampler.recv(timeout=0)
    # One token of the reply in each pass beside 20 ids of the prompt.
    assert len(reads.passes) >= 10
    assert set(reads.passes[:-1]) == {21}
    assert len(sampler._conversations[0].request.ids) >= len(reads.passes)


def test_a_prompt_that_several_conversations_share_is_read_once(
    sampler: HFSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(monkeypatch)
    groups = [RULES + "first", RULES + "second"]
    sampler.send({slot: Transcript(groups[slot % 2], start=Start(0, group=slot)) for slot in range(16)})
    sampler.recv(16)
    opening = len(sampler.chat.prompt(Transcript(groups[0]), []).ids)
    sampled = sum(len(each.context) - opening for each in sampler._conversations.values())
    assert opening > 60
    # Each conversation reads the last id of its prompt, and each token that it samples.
    assert sum(reads.passes) < opening + 16 + sampled + 20


@pytest.mark.parametrize("template", [REWRITING, FORGETTING], ids=["rewriting", "forgetting"])
def test_a_new_segment_is_read_from_where_it_differs_and_its_last_id_always(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    sampler = made(model, template)
    transcript = Transcript(RULES)
    sampler.send({0: transcript})
    first = sampler.recv()[0]
    transcript.add(first, 0.0, "next", {})
    reads = Reads(monkeypatch)
    sampler.send({0: transcript})
    second = sampler.recv()[0]
    assert second.new_segment
    same = shared_length(extended([], first), list(second.prompt_ids))
    assert same >= len(first.prompt_ids)
    assert sum(reads.passes) == max(1, len(second.prompt_ids) - same) + len(second.ids) - 1


def test_keys_are_read_in_place_and_scattered_rows_are_moved_together(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = made(model, length=40)
    monkeypatch.setattr(sampler.chat, "stop_ids", ())
    reads = Reads(monkeypatch)
    attention = torch.nn.functional.scaled_dot_product_attention
    copies: list[bool] = []

    def spying(query: Tensor, key: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        own = {layer._keys.untyped_storage().data_ptr() for layer in sampler._model.cache.layers}
        copies.append(key.untyped_storage().data_ptr() not in own)
        return attention(query, key, *args, **kwargs)

    sampler.send({slot: Transcript("x" * (slot + 1)) for slot in range(16)})
    for _ in range(3):
        sampler.recv(timeout=0)
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spying)
    sampler.recv(timeout=0)
    assert reads.rows[-1] == [16]
    for slot in range(16):
        if slot % 4:
            sampler.forget(slot)
    found = {}
    while len(found) < 4:
        found |= sampler.recv(timeout=0)
        assert reads.rows[-1] == [4]
    assert not any(copies)
    for slot, completion in found.items():
        expected = scored(model, extended([], completion), 40)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
        sampler.forget(slot)
    assert all(owner is None for owner in sampler._rows._owners)
    assert not sampler._rows._openings


def test_conversations_whose_rows_were_exchanged_continue_in_their_new_rows(
    model: PreTrainedModel, sampler: HFSampler
) -> None:
    past = {slot: Transcript("x" * (slot + 1)) for slot in range(8)}
    contexts: dict[int, list[int]] = {slot: [] for slot in past}
    for slots in (range(8), (6, 7), (0, 1)):
        before = {slot: sampler._conversations[slot].row for slot in sampler._conversations}
        sampler.send({slot: past[slot] for slot in slots})
        for slot, completion in sampler.recv(len(slots)).items():
            contexts[slot] = extended(contexts[slot], completion)
            expected = scored(model, contexts[slot], len(completion.ids))
            torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
            past[slot].add(completion, 0.0, "next", {})
        if slots == (6, 7):
            after = [sampler._conversations[slot].row for slot in range(8)]
            assert after == [before[slot] for slot in (6, 7, 2, 3, 4, 5, 0, 1)]


def test_a_conversation_that_lost_its_row_is_read_again(model: PreTrainedModel) -> None:
    sampler = made(model, rows=1)
    past = {slot: Transcript("x" * 9 * (slot + 1)) for slot in range(2)}
    contexts: dict[int, list[int]] = {slot: [] for slot in past}
    for slot in (0, 1, 0, 1):
        sampler.send({slot: past[slot]})
        completion = sampler.recv()[slot]
        assert [each.row for each in sampler._conversations.values() if each.row >= 0] == [0]
        contexts[slot] = extended(contexts[slot], completion)
        expected = scored(model, contexts[slot], len(completion.ids))
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
        past[slot].add(completion, 0.0, "next", {})


def test_the_conversation_that_was_used_least_recently_loses_its_row(model: PreTrainedModel) -> None:
    sampler = made(model, rows=2)
    past = {slot: Transcript("x" * 9 * (slot + 1)) for slot in range(3)}
    for slot in (0, 1, 0, 2):
        sampler.send({slot: past[slot]})
        past[slot].add(sampler.recv()[slot], 0.0, "next", {})
    assert [sampler._conversations[slot].row >= 0 for slot in past] == [True, False, True]


def test_a_sampler_that_sleeps_has_no_cache_and_resumes_its_replies(model: PreTrainedModel, sampler: HFSampler) -> None:
    sampler.send({0: Transcript(RULES)})
    assert sampler.recv(timeout=0) == {}
    sampler.sleep()
    assert all(layer._keys.numel() == 0 for layer in sampler._model.cache.layers)
    sampler.wake()
    completion = sampler.recv()[0]
    expected = scored(model, extended([], completion), len(completion.ids))
    torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
