"""Packing: every sequence is packed whole, and rows do not exceed their length."""

from itertools import pairwise

import numpy as np
import pytest

from gem_train.batch import TokenSequence
from gem_train.packing import pack


def sequences(seed: int, count: int) -> list[TokenSequence]:
    rng = np.random.default_rng(seed)
    made = []
    for index in range(count):
        length = int(rng.integers(2, 40))
        sampled = rng.random(length) < 0.5
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
@pytest.mark.parametrize("row_tokens", [1, 40, 64, 1000])
def test_every_sequence_is_packed_whole_and_once(seed, row_tokens):
    given = sequences(seed, 30)
    packed = pack(given, row_tokens)
    found = []
    for row in range(len(packed.ids)):
        starts = [*np.flatnonzero(packed.positions[row].numpy() == 0).tolist(), packed.ids.shape[1]]
        for start, end in pairwise(starts):
            if packed.ids[row, start] != 0:
                fields = packed.ids, packed.sampled, packed.logprobs, packed.turn
                found.append(tuple(tuple(tensor[row, start:end].tolist()) for tensor in fields))
                assert packed.positions[row, start:end].tolist() == list(range(end - start))
    expected = [tuple(tuple(array.tolist()) for array in (s.ids, s.sampled, s.logprobs, s.turn)) for s in given]
    assert sorted(found) == sorted(expected)


def test_only_a_sequence_longer_than_a_row_exceeds_the_length():
    given = sequences(0, 50)
    assert pack(given, 100).ids.shape[1] <= 100
    assert pack(given, 1).ids.shape == (50, max(map(len, given)))


def test_packing_takes_at_most_one_row_more_than_needed():
    given = sequences(1, 400)
    assert len(pack(given, 200).ids) <= -(-sum(map(len, given)) // 200) + 1


def test_the_parts_of_a_split_make_up_the_whole():
    packed = pack(sequences(2, 30), 64)
    parts = list(packed.split(4))
    assert [len(part.ids) for part in parts[:-1]] == [4] * (len(parts) - 1)
    assert sum(len(part.ids) for part in parts) == len(packed.ids)
