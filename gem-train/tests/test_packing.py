"""Packing: every sequence is packed whole, and micro-batches do not exceed their tokens."""

from itertools import pairwise

import numpy as np
import pytest

from gem_train.batch import TokenSequence
from gem_train.distributed.world import straggling
from gem_train.learning.packing import pack


def sequences(seed: int, count: int) -> list[TokenSequence]:
    rng = np.random.default_rng(seed)
    made = []
    for index in range(count):
        length = int(rng.integers(2, 40))
        sampled = rng.random(length) < 0.5
        sampled[0] = False
        made.append(
            TokenSequence(
                ids=rng.integers(1, 100, length),
                sampled=sampled,
                logprobs=np.where(sampled, -rng.random(length), 0).astype(np.float32),
                turn=np.where(sampled, index, -1),
            )
        )
    return made


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("tokens", [1, 40, 64, 1000])
def test_every_sequence_is_packed_whole_and_once(seed, tokens):
    given = sequences(seed, 30)
    behind = np.concatenate([sequence.ids for sequence in given])
    found = []
    for part in pack(given, tokens):
        starts = [*np.flatnonzero(part.positions[0].numpy() == 0).tolist(), part.ids.shape[1]]
        assert np.array_equal(behind[part.index[0].numpy()], part.ids[0].numpy())
        for start, end in pairwise(starts):
            found.append(tuple(tuple(tensor[0, start:end].tolist()) for tensor in (part.ids, part.sampled, part.turn)))
            assert part.positions[0, start:end].tolist() == list(range(end - start))
    expected = [tuple(tuple(array.tolist()) for array in (s.ids, s.sampled, s.turn)) for s in given]
    assert sorted(found) == sorted(expected)


def test_only_a_sequence_longer_than_a_micro_batch_exceeds_its_tokens():
    given = sequences(0, 50)
    assert max(part.ids.shape[1] for part in pack(given, 100)) <= 100
    assert sorted(part.ids.shape[1] for part in pack(given, 1)) == sorted(map(len, given))


def test_packing_takes_at_most_one_micro_batch_more_than_needed():
    given = sequences(1, 400)
    assert len(pack(given, 200)) <= -(-sum(map(len, given)) // 200) + 1


@pytest.mark.parametrize("processes", [2, 3, 8])
@pytest.mark.parametrize("tokens", [45, 200, 10_000])
def test_rows_for_several_processes_divide_and_are_about_equally_long(processes, tokens):
    given = sequences(2, 60)
    rows = [part.ids.shape[1] for part in pack(given, tokens, multiple=processes)]
    assert sum(rows) == sum(map(len, given))
    assert len(rows) % processes == 0
    assert len(rows) - len(pack(given, tokens)) < processes
    assert max(rows) <= tokens
    # First fit alone fills all rows but the last, so that in its pass most wait for nothing.
    assert straggling(rows, processes) < 1.15
    assert len(pack(given[:2], tokens, multiple=processes)) == 2
