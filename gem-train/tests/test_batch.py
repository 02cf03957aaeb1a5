"""From episodes to sequences: what becomes of episodes with few turns, or none."""

import pytest

from gem.errors import NothingToLearn
from gem.rollout.transcript import Completion, Episode, Turn
from gem_train.batch import collate


def episode(*completions: Completion) -> Episode:
    turns = tuple(Turn("?", completion, 1.0, {}) for completion in completions)
    return Episode("test", 0, 0, turns, "", terminated=True, truncated=False, success=False)


def test_an_episode_that_ended_before_its_first_turn_has_no_sequence():
    said = Completion("a", prompt_ids=(1, 2), ids=(3,), logprobs=(-0.5,))
    batch = collate([episode(), episode(said), episode()])
    assert [sequence.ids.tolist() for sequence in batch.sequences] == [[1, 2, 3]]
    assert batch.rewards.tolist() == [1.0]
    with pytest.raises(NothingToLearn, match="no episode of a batch of 2 has a turn"):
        collate([episode(), episode()])
