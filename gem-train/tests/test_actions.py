"""Actions as turns, tokens or episodes, and replies that were cut, on a batch written out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gem_train.algorithms.actions import leave_out, regroup
from gem_train.batch import Batch, TokenSequence

# Two episodes: three turns (the second in a new segment with the third), and one turn. -1: a prompt's id.
TURNS = [[-1, -1, 0, 0], [-1, 1, 1, 1, -1, 2], [-1, 3, 3]]


def sequence(turn: list[int]) -> TokenSequence:
    row = np.array(turn)
    return TokenSequence(np.arange(len(row)) + 10, row >= 0, -np.arange(len(row), dtype=np.float32) / 8, row)


@pytest.fixture
def batch() -> Batch:
    rewards, episode = np.array([1, 2, 4, 8], np.float32), np.array([0, 0, 0, 1])
    return Batch.of([sequence(turn) for turn in TURNS], rewards, episode)


def with_cut(batch: Batch, *rows: int) -> Batch:
    return replace(batch, cut=np.isin(np.arange(batch.num_turns), rows))


def turns_of(batch: Batch) -> list[list[int]]:
    return [each.turn.tolist() for each in batch.sequences]


def trained_ids(batch: Batch) -> list[list[int]]:
    return [each.ids[each.sampled].tolist() for each in batch.sequences]


def test_turns_are_left_as_they_are(batch: Batch):
    assert regroup(batch, "turn", "act", 0.5) is batch


def test_with_tokens_as_actions_the_last_of_a_turn_has_its_reward(batch: Batch):
    found = regroup(batch, "token", "act", 0.5)
    assert turns_of(found) == [[-1, -1, 0, 1], [-1, 2, 3, 4, -1, 5], [-1, 6, 7]]
    assert found.rewards.tolist() == [0, 1, 0, 0, 2, 4, 0, 8]
    assert found.episode.tolist() == [0] * 6 + [1] * 2


def test_with_episodes_as_actions_the_reward_is_the_discounted_return(batch: Batch):
    found = regroup(batch, "episode", "act", 0.5)
    assert turns_of(found) == [[-1, -1, 0, 0], [-1, 0, 0, 0, -1, 0], [-1, 1, 1]]
    assert found.rewards.tolist() == [1 + 0.5 * 2 + 0.25 * 4, 8]
    assert found.episode.tolist() == [0, 1]


def test_a_turn_without_ids_keeps_its_reward_when_tokens_are_actions(batch: Batch):
    nothing = TokenSequence(np.array([5]), np.array([False]), np.zeros(1, np.float32), np.array([-1]))
    found = regroup(replace(batch, sequences=(*batch.sequences[:2], nothing)), "token", "act", 1.0)
    assert found.rewards.tolist() == [0, 1, 0, 0, 2, 4, 8]


@pytest.mark.parametrize("actions", ["turn", "token", "episode"])
def test_a_masked_reply_is_not_trained_and_keeps_its_reward(batch: Batch, actions):
    found = regroup(with_cut(batch, 1), actions, "mask", 1.0)
    assert trained_ids(found) == [[12, 13], [15], [11, 12]]
    assert found.rewards.sum() == batch.rewards.sum()
    trained = {"turn": [1, 0, 1, 1], "token": [1, 1, 0, 0, 0, 1, 1, 1], "episode": [1, 1]}[actions]
    assert found.trained.astype(int).tolist() == trained


def test_an_episode_is_trained_if_any_of_its_turns_is(batch: Batch):
    assert regroup(with_cut(batch, 2, 3), "episode", "mask", 1.0).trained.tolist() == [True, False]


def test_an_episode_is_truncated_at_its_first_cut_reply(batch: Batch):
    found = regroup(with_cut(batch, 1, 2), "turn", "truncate", 1.0)
    # Of the cut reply its first id is left: the state is the id before it.
    assert [each.ids.tolist() for each in found.sequences] == [[10, 11, 12, 13], [10, 11], [10, 11, 12]]
    assert turns_of(found) == [[-1, -1, 0, 0], [-1, 1], [-1, 2, 2]]
    assert trained_ids(found) == [[12, 13], [], [11, 12]]
    assert (found.rewards.tolist(), found.episode.tolist()) == ([1, 0, 8], [0, 0, 1])
    assert (found.state_only.tolist(), found.trained.tolist()) == ([False, True, False], [True, False, True])


def test_segments_after_the_cut_reply_are_dropped(batch: Batch):
    found = regroup(with_cut(batch, 0), "turn", "truncate", 1.0)
    assert [each.ids.tolist() for each in found.sequences] == [[10, 11, 12], [10, 11, 12]]
    assert (found.rewards.tolist(), found.episode.tolist()) == ([0, 8], [0, 1])


@pytest.mark.parametrize("actions", ["token", "episode"])
def test_truncated_episodes_are_regrouped_too(batch: Batch, actions):
    found = regroup(with_cut(batch, 1), actions, "truncate", 0.5)
    assert trained_ids(found) == [[12, 13], [], [11, 12]]
    if actions == "token":
        assert found.rewards.tolist() == [0, 1, 0, 0, 8]
        assert found.state_only.tolist() == [False, False, True, False, False]
    else:
        assert found.rewards.tolist() == [1, 8]
        assert not found.state_only.any()


def test_an_episode_without_turns_has_no_row(batch: Batch):
    episodes = {name: np.repeat(getattr(batch.episodes, name), [1, 2]) for name in ("group", "env")}
    rest = {name: np.repeat(getattr(batch.episodes, name), [1, 2]) for name in ("success", "truncated", "magnitude")}
    table = replace(batch.episodes, **episodes, **rest)
    found = regroup(replace(batch, episodes=table, episode=np.array([0, 0, 0, 2])), "episode", "act", 1.0)
    assert (found.rewards.tolist(), found.episode.tolist()) == ([7, 8], [0, 2])
    assert turns_of(found)[2] == [-1, 1, 1]


def test_actions_that_are_left_out_are_not_trained(batch: Batch):
    found = leave_out(batch, np.array([True, False, False, True]))
    assert trained_ids(found) == [[], [11, 12, 13, 15], []]
    assert turns_of(found) == turns_of(batch)


def test_the_version_of_an_action_is_that_of_its_turns_if_they_agree(batch: Batch):
    versions = replace(batch, version=np.array([3, 3, 4, 3]))
    assert regroup(versions, "episode", "act", 1.0).version.tolist() == [-2, 3]
    assert regroup(versions, "token", "act", 1.0).version.tolist() == [3, 3, 3, 3, 3, 4, 3, 3]
