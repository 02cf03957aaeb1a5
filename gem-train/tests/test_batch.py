"""From episodes to sequences and tables, and what becomes of episodes with few turns, or none."""

import pytest
from msgspec.structs import replace

from gem.episode import Completion, Episode, FinishReason, Trace, Turn
from gem.errors import Failure, NothingToLearn
from gem_train.batch import collate


def episode(*completions: Completion) -> Episode:
    turns = tuple(Turn("?", completion, 1.0, {}) for completion in completions)
    return Episode(
        id="test", seed=0, traces=(Trace(turns),), observation="", terminated=True, truncated=False, success=False
    )


def test_an_episode_that_ended_before_its_first_turn_has_no_sequence():
    said = Completion("a", prompt_ids=(1, 2), ids=(3,), logprobs=(-0.5,))
    batch = collate([episode(), episode(said), episode()])
    assert [sequence.ids.tolist() for sequence in batch.sequences] == [[1, 2, 3]]
    assert batch.rewards.tolist() == [1.0]
    with pytest.raises(NothingToLearn, match="no episode of a batch of 2 has a turn"):
        collate([episode(), episode()])


def played(id: str, seed: int, *replies: Completion, failed: bool = False, rewards: tuple[float, ...] = ()) -> Episode:
    gained = rewards or (1.0,) * len(replies)
    turns = tuple(Turn("", reply, reward, {}) for reply, reward in zip(replies, gained, strict=True))
    failure = Failure("Boom: gone", "") if failed else None
    return Episode(
        id=id,
        seed=seed,
        traces=(Trace(turns),),
        observation="",
        terminated=False,
        truncated=True,
        success=seed == 1,
        failure=failure,
    )


def reply(reason: FinishReason = "stop", versions: tuple[int, ...] = ()) -> Completion:
    return Completion("a", (5,), (6,), (-0.5,), reason, weight_versions=versions)


def test_the_table_of_episodes_says_who_started_alike_without_those_that_failed():
    batch = collate(
        [
            played("a:A", 1, reply(), reply(), rewards=(0.5, -2.0)),
            played("b:B", 1, reply()),
            played("a:A", 1, reply()),
            played("b:B", 1, reply(), failed=True),
            played("a:A", 2, reply()),
        ]
    )
    table = batch.episodes
    assert table.group.tolist() == [0, 1, 0, 2]
    assert table.env.tolist() == ["a:A", "b:B", "a:A", "a:A"]
    assert table.success.tolist() == [True, True, True, False]
    assert table.truncated.all()
    assert table.magnitude.tolist() == [2.5, 1, 1, 1]
    assert batch.episode.tolist() == [0, 0, 1, 2, 3]


def test_each_player_of_a_game_is_compared_with_itself():
    said = (Turn("", reply(), 1.0, {}),)
    games = [replace(played("a:A", 1), traces=(Trace(said, "white"), Trace(said, "black"))) for _ in range(2)]
    assert collate(games).episodes.group.tolist() == [0, 1, 0, 1]


def test_the_table_of_turns_says_which_replies_were_cut_and_under_which_weights():
    batch = collate([played("a:A", 1, reply(), reply("length", (3,)), reply("context", (3, 4)), reply(versions=(4,)))])
    assert batch.cut.tolist() == [False, True, True, False]
    assert batch.version.tolist() == [-1, 3, -2, 4]
    assert batch.trained.all()
    assert not batch.state_only.any()


def test_a_sampled_id_without_an_id_before_it_is_an_error():
    """It would be scored by the end of another sequence."""
    said = Completion("a", prompt_ids=(), ids=(3,), logprobs=(-0.5,))
    with pytest.raises(ValueError, match="must begin with an id that was not sampled"):
        collate([episode(said)])
