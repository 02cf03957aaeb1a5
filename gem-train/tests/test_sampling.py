"""What is drawn: the distribution of tokens, the noise of each, and the limit of the model's context."""

from collections.abc import Iterable

import pytest
import torch

from gem.chat.encoder import ChatEncoder
from gem.episode import Completion, Start
from gem.rollout.transcript import Transcript
from gem_train.engines.hf import HFSampler
from gem_train.engines.noise import Noise, draw
from gem_train.models.tiny import tiny_model, tiny_tokenizer

PLACES = ["seed", "id", "start", "group", "turn", "token"]
PROBABILITIES = torch.tensor([0.02, 0.0, 0.5, 0.08, 0.3, 0.0, 0.1, 0.0])


def made_sampler(*, max_new_tokens: int = 6, positions: int = 4096, temperature: float = 1.0) -> HFSampler:
    tokenizer = tiny_tokenizer([])
    model = tiny_model(tokenizer, 0).eval()
    model.config.max_position_embeddings = positions
    return HFSampler(model, ChatEncoder(tokenizer), max_new_tokens=max_new_tokens, temperature=temperature)


@pytest.fixture(scope="module")
def sampler() -> HFSampler:
    return made_sampler()


def replies(sampler: HFSampler, starts: Iterable[Start], order: Iterable[int], at_once: int) -> list[list[Completion]]:
    """Two replies in a conversation per start, asked for in this order, so many conversations at once."""
    starts, order = list(starts), list(order)
    found: list[list[Completion]] = [[] for _ in starts]
    for first in range(0, len(order), at_once):
        slots = order[first : first + at_once]
        asked = {slot: Transcript(f"Question {starts[slot].seed}", start=starts[slot]) for slot in slots}
        for _ in range(2):
            sampler.send(asked)
            for slot, completion in sampler.recv(len(slots)).items():
                found[slot].append(completion)
                asked[slot].add(completion, 0.0, "And then?", {})
        for slot in slots:
            sampler.forget(slot)
    return found


@pytest.mark.parametrize("place", PLACES)
def test_tokens_are_drawn_as_often_as_their_probabilities_say_whatever_tells_their_noise_apart(place):
    """Equal noise in tokens that differ in one place only would give one token over and over."""
    number = 4000
    key = dict.fromkeys(PLACES, 0)
    keys = [{**key, place: index} for index in range(number)]
    noise = [Noise(k["seed"], Start(k["start"], str(k["id"]), group=k["group"]), k["turn"])[k["token"]] for k in keys]
    temperature = 0.7
    logits = (PROBABILITIES.log() * temperature).expand(number, -1)
    chosen, logprobs = draw(logits, temperature, torch.tensor(noise, dtype=torch.float64))
    torch.testing.assert_close(logprobs, PROBABILITIES.log()[chosen])
    counts = torch.bincount(chosen, minlength=8)
    likely = PROBABILITIES > 0
    assert counts[~likely].sum() == 0
    expected = number * PROBABILITIES[likely]
    # Above 30 in one of 200,000 samples, with 4 degrees of freedom.
    assert float(((counts[likely] - expected) ** 2 / expected).sum()) < 30


def test_the_ends_of_the_noise_draw_tokens_of_positive_probability():
    ends = torch.tensor([0.0, 1 - 2.0**-53], dtype=torch.float64)
    for scale in (1.0, 30.0, 1e4):
        logits = (scale * torch.tensor([-1.0, 0.0, -0.5, -1.0])).expand(2, -1)
        chosen, logprobs = draw(logits, 1.0, ends)
        positive = logits[0].softmax(-1).nonzero()[:, 0].tolist()
        assert chosen.tolist() == [positive[0], positive[-1]]
        assert logprobs.isfinite().all()


def test_the_log_probability_of_a_token_drawn_from_nan_is_nan():
    chosen, logprobs = draw(torch.full((1, 4), torch.nan), 1.0, torch.zeros(1, dtype=torch.float64))
    assert 0 <= int(chosen) < 4
    assert logprobs.isnan().all()


@pytest.mark.parametrize("at_once", [1, 3, 12])
def test_a_reply_does_not_depend_on_what_is_sampled_with_it_or_before_it(sampler, at_once):
    starts = [Start(seed, "env", group=group) for seed in range(3) for group in range(4)]
    sampler.reseed(5)
    expected = replies(sampler, starts, range(12), 12)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(at_once)).tolist()
    found = replies(sampler, starts, order, at_once)
    assert [[each.ids for each in pair] for pair in found] == [[each.ids for each in pair] for pair in expected]
    assert len({each.ids for pair in found for each in pair}) > 20


def test_another_seed_of_the_sampler_gives_other_replies(sampler):
    starts = [Start(seed) for seed in range(8)]
    found = []
    for seed in (1, 2, 1):
        sampler.reseed(seed)
        found.append([each.ids for pair in replies(sampler, starts, range(8), 8) for each in pair])
    assert found[0] == found[2]
    assert sum(a == b for a, b in zip(found[0], found[1], strict=True)) < 3


def test_a_conversation_without_a_start_has_noise_of_its_own_by_its_number_since_the_seed_was_set(sampler):
    def found() -> list[tuple[int, ...]]:
        sampler.reseed(0)
        ids = []
        for _ in range(8):
            sampler.send({0: Transcript("Question")})
            ids.append(sampler.recv()[0].ids)
            sampler.forget(0)
        return ids

    assert len(set(found())) > 6
    assert found() == found()


def test_a_reply_that_reaches_the_end_of_the_context_is_cut_and_then_nothing_can_be_said():
    """It ends neither the run nor the other conversations."""
    unlimited = made_sampler()
    for each in range(40):  # a start whose replies are long
        [pair] = replies(unlimited, [Start(each)], [0], 1)
        if [completion.finish_reason for completion in pair] == ["length", "length"]:
            break
    prompt = len(pair[0].prompt_ids) + 6 + len(pair[1].prompt_ids)
    for room, kept, reason in ((0, 0, "context"), (1, 1, "context"), (5, 5, "context"), (6, 6, "length")):
        limited = made_sampler(positions=prompt + room)
        others = [Start(each), Start(each + 1)]
        [cut, _] = replies(limited, others, range(2), 2)
        assert (cut[0].ids, cut[0].finish_reason) == (pair[0].ids, "length")
        assert (cut[1].ids, cut[1].finish_reason) == (pair[1].ids[:kept], reason)
        assert cut[1].out_of_context == (kept == 0)
        assert cut[1].text == (limited.chat.text(cut[1].ids) if kept else "")
