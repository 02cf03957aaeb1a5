"""Tokens, log-probabilities, packing and gradients of training, with a tiny model that plays a game."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch
from msgspec import structs

from gem.episode import Episode
from gem.errors import Failure
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.rollout.transcript import Transcript
from gem.vector import make_vec
from gem_train.algorithms.credit import Credit
from gem_train.batch import Batch, TokenSequence, collate
from gem_train.build import Parts, build
from gem_train.config.training import load_config
from gem_train.engines.hf import HFSampler
from gem_train.engines.kv_cache import RowCache
from gem_train.learning.packing import Packed, pack
from gem_train.learning.scoring import score_tokens
from gem_train.sft.imitation import imitate

ID = "game:GuessTheNumber-v0-easy"


@pytest.fixture(scope="module")
def parts():
    """A tiny model after a warm-up that is long enough for episodes of several turns of unequal length."""
    config = load_config(
        [{"id": ID, "warmup": {"steps": 80, "episodes": 16}, "rollout": {"num_envs": 16, "max_new_tokens": 12}}]
    )
    torch.set_num_threads(1)
    teacher = random_policy()
    with build(config) as parts, make_vec(ID, 16, info_methods=teacher.info_methods) as envs:
        settings = {"warmup": config.warmup, "optim": config.optim, "seed": config.seed}
        for _ in imitate(parts.loaded.model, parts.sampler.chat, teacher, envs, **settings):
            pass
        yield parts


@pytest.fixture(scope="module")
def episodes(parts: Parts) -> list[Episode]:
    parts.sampler.reseed(1)
    played = list(rollout(parts.sampler, parts.envs, range(48)))
    lengths = {len(turn.completion.ids) for episode in played for turn in episode.turns}
    assert len({len(episode.turns) for episode in played}) > 2
    assert len(lengths) > 2
    return played


@pytest.fixture(scope="module")
def batch(episodes: list[Episode]) -> Batch:
    return collate(episodes)


def test_the_ids_of_an_episode_are_those_that_the_engine_read(parts: Parts, monkeypatch):
    """Seen from the model's side: which ids it was called with, and which row and position they were written to."""
    written: dict[int, dict[int, int]] = defaultdict(dict)
    read: dict[tuple[int, ...], tuple[int, ...]] = {}
    where: list[tuple[int, int]] = []
    write_to, copy, forget = RowCache.write_to, RowCache.copy, HFSampler.forget

    def recording_write_to(cache, rows, positions, device):
        where[:] = zip(rows, positions, strict=True)
        write_to(cache, rows, positions, device)

    def recording_copy(cache, pairs, length):
        before = {source: dict(written[source]) for source, _ in pairs}
        for source, target in pairs:
            written[target] = {place: id for place, id in before[source].items() if place < length}
        copy(cache, pairs, length)

    def record_forward(_, args, kwargs):
        for (row, position), id in zip(where, kwargs["input_ids"][0].tolist(), strict=True):
            written[row][position] = id

    def recording_forget(sampler, slot):
        conversation = sampler._conversations[slot]
        # The last id of an episode was sampled and never read.
        context = tuple(conversation.context[:-1])
        read[context] = tuple(written[conversation.row][place] for place in range(len(context)))
        forget(sampler, slot)

    monkeypatch.setattr(RowCache, "write_to", recording_write_to)
    monkeypatch.setattr(RowCache, "copy", recording_copy)
    monkeypatch.setattr(HFSampler, "forget", recording_forget)
    hook = parts.loaded.model.register_forward_pre_hook(record_forward, with_kwargs=True)
    try:
        parts.sampler.reseed(2)
        played = list(rollout(parts.sampler, parts.envs, range(32)))
    finally:
        hook.remove()
    for episode in played:
        pieces = [(*turn.completion.prompt_ids, *turn.completion.ids) for turn in episode.turns]
        context = sum(pieces, ())[:-1]
        assert read[context] == context


SLOWLY = """
import random, time
from gem.core import Wrapper

class Slowly(Wrapper):
    def step(self, action):
        time.sleep(random.random() * 0.01)
        return super().step(action)
"""


@pytest.mark.full
@pytest.mark.parametrize(("backend", "num_envs"), [("sync", 3), ("thread", 16), ("process", 2)])
def test_neither_the_backend_nor_the_number_of_envs_nor_their_latency_changes_an_episode(
    parts: Parts, episodes: list[Episode], backend, num_envs, tmp_path, monkeypatch
):
    def actions(played: Iterable[Episode]) -> dict[int, list[str]]:
        return {episode.seed: [turn.action for turn in episode.turns] for episode in played}

    (tmp_path / "slowly.py").write_text(SLOWLY)
    monkeypatch.syspath_prepend(tmp_path)
    parts.sampler.reseed(1)
    with make_vec(ID, num_envs, backend=backend, wrappers=["slowly:Slowly"] if backend == "thread" else []) as envs:
        found = actions(rollout(parts.sampler, envs, range(48)))
    # Logits depend on the shape of a batch in their last bits, which decide one draw in a million.
    assert sum(found[seed] == expected for seed, expected in actions(episodes).items()) >= 47


def test_the_text_of_the_ids_is_the_conversation(parts: Parts, episodes: list[Episode]):
    for episode in episodes:
        ids = [i for turn in episode.turns for i in (*turn.completion.prompt_ids, *turn.completion.ids)]
        expected = ""
        for turn in episode.turns:
            ended = "<|end|>" if turn.completion.finish_reason == "stop" else ""
            closing = "" if not expected or expected.endswith("<|end|>") else "<|end|>"
            expected += f"{closing}<|user|>{turn.observation}<|end|><|assistant|>{turn.action}{ended}"
        assert parts.loaded.tokenizer.decode(ids) == expected


def scores_by_turn(parts: Parts, packed: list[Packed]) -> dict[int, list[float]]:
    found = defaultdict(list)
    for part in packed:
        with torch.inference_mode():
            logprobs = score_tokens(parts.loaded.model, part, 1.0).logprobs
        for turn, logprob in zip(part.turn[part.sampled].tolist(), logprobs.tolist(), strict=True):
            found[turn].append(logprob)
    return found


def flat(by_turn: dict[int, list[float]]) -> np.ndarray:
    return np.concatenate([by_turn[turn] for turn in sorted(by_turn)])


def test_log_probabilities_at_sampling_and_at_training_agree(parts: Parts, episodes: list[Episode], batch: Batch):
    sampled = np.concatenate([turn.completion.logprobs for episode in episodes for turn in episode.turns])
    trained = flat(scores_by_turn(parts, pack(batch.sequences, 128)))
    np.testing.assert_allclose(trained, sampled, atol=1e-4)


@pytest.mark.full
def test_packing_and_padding_do_not_change_log_probabilities(parts: Parts, batch: Batch):
    alone = flat(scores_by_turn(parts, pack(batch.sequences, 1)))
    for tokens in (100, 400, 5000):
        np.testing.assert_allclose(flat(scores_by_turn(parts, pack(batch.sequences, tokens))), alone, atol=1e-5)


@pytest.mark.full
def test_packing_without_block_masks_would_be_detected(parts: Parts, batch: Batch):
    packed = pack(batch.sequences, 400)
    alone = flat(scores_by_turn(parts, pack(batch.sequences, 1)))
    running = [replace(part, positions=torch.arange(part.ids.shape[1])[None]) for part in packed]
    unmasked = flat(scores_by_turn(parts, running))
    assert np.abs(unmasked - alone).max() > 1e-2


def gradient(parts: Parts, sequences: list[TokenSequence], credit: Credit, tokens: int) -> torch.Tensor:
    model = parts.loaded.model
    model.zero_grad()
    for packed in pack(sequences, tokens):
        scores = score_tokens(model, packed, 1.0, entropy=True)
        advantages = torch.from_numpy(credit.advantages)[packed.turn[packed.sampled]]
        assert scores.entropy is not None
        (scores.logprobs * advantages + 0.01 * scores.entropy).sum().backward()
    found = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    model.zero_grad()
    return found


def test_one_packed_episode_has_the_gradient_of_one_sample_per_turn(parts: Parts, batch: Batch):
    credit = Credit(batch.rewards, np.random.default_rng(0).normal(size=batch.num_turns).astype(np.float32))
    samples = []
    for sequence in batch.sequences:
        for turn in np.unique(sequence.turn[sequence.sampled]):
            last = int(np.flatnonzero(sequence.turn == turn)[-1])
            cut = TokenSequence(
                *(array[: last + 1] for array in (sequence.ids, sequence.sampled, sequence.logprobs, sequence.turn))
            )
            samples.append(replace(cut, sampled=cut.turn == turn))
    assert len(samples) == batch.num_turns > len(batch.sequences)
    packed = gradient(parts, list(batch.sequences), credit, 400)
    separate = gradient(parts, samples, credit, 1)
    torch.testing.assert_close(packed, separate, rtol=1e-4, atol=1e-4 * packed.abs().max().item())


def test_log_probabilities_of_learner_and_engine_agree(parts: Parts, batch: Batch):
    assert parts.learner.score(batch, ()).old_logprobs is None
    scores = parts.learner.score(batch, {"old_logprobs"})
    assert scores.old_logprobs is not None
    for sequence, old in zip(batch.sequences, scores.old_logprobs, strict=True):
        np.testing.assert_allclose(old, sequence.logprobs, atol=1e-4)


def test_the_policy_follows_new_weights(parts: Parts):
    """After `load`, log-probabilities are those of the new model, even in a running conversation."""
    model, policy = parts.loaded.model, parts.sampler
    generator = torch.Generator().manual_seed(0)
    own = {name: tensor.clone() for name, tensor in parts.learner.weights()}
    other = {name: tensor + 0.02 * torch.randn(tensor.shape, generator=generator) for name, tensor in own.items()}

    def sampled_and_scored(past: Transcript) -> tuple[tuple[float, ...], list[float]]:
        """Log-probabilities of the next reply at sampling, and as the model computes them at once."""
        policy.send({0: past})
        answer = policy.recv()[0]
        context.extend([*answer.prompt_ids, *answer.ids])
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([context])).logits[0, -len(answer.ids) - 1 : -1]
        past.add(answer, 0.0, "At turn 1, you guessed 5, and my number is higher than 5.", {})
        return answer.logprobs, logits.log_softmax(-1)[range(len(answer.ids)), answer.ids].tolist()

    context: list[int] = []
    past = Transcript("Enter your first guess.")
    try:
        np.testing.assert_allclose(*sampled_and_scored(past), atol=1e-4)
        policy.load(other.items(), 1)
        np.testing.assert_allclose(*sampled_and_scored(past), atol=1e-4)
        first = past.turns[0].completion
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*first.prompt_ids, *first.ids]])).logits[
                0, -len(first.ids) - 1 : -1
            ]
        renewed = logits.log_softmax(-1)[range(len(first.ids)), first.ids].numpy()
        assert np.abs(renewed - first.logprobs).max() > 1e-2
    finally:
        policy.load(own.items(), 2)
        policy.forget(0)


def test_a_failed_episode_is_left_out_of_the_batch(episodes: list[Episode], batch: Batch):
    failed = [structs.replace(episodes[0], failure=Failure("Boom: gone", "")), *episodes[1:]]
    assert collate(failed).num_turns == batch.num_turns - len(episodes[0].turns)
    assert len(collate(failed).sequences) == len(batch.sequences) - 1
