"""The penalty of replies that are nearly too long, against the cases of its formula."""

import pytest

from gem.episode import Completion, Episode, Trace, Turn
from gem_train.batch import collate
from gem_train.shaping import overlong_penalty, penalty_metrics, shaped_rewards


@pytest.mark.parametrize("last", [1, 4, 10])
@pytest.mark.parametrize("tokens", range(11))
def test_the_penalty_is_that_of_the_paper(tokens: int, last: int) -> None:
    """DAPO, equation 13, in its own terms."""
    longest, length = 10, tokens
    if length <= longest - last:
        expected = 0.0
    elif length <= longest:
        expected = ((longest - last) - length) / last
    else:
        expected = -1.0
    assert -overlong_penalty(tokens, longest, last) == expected
    assert overlong_penalty(tokens, longest, 0) == 0


def played() -> Episode:
    """Replies of 3, 9 and 10 tokens."""
    replies = (Completion("a", ids=(1,) * length, logprobs=(0.0,) * length, prompt_ids=(1,)) for length in (3, 9, 10))
    turns = tuple(Turn("", reply, 0.5, {}) for reply in replies)
    return Episode(
        id="a:A", seed=1, traces=(Trace(turns),), observation="", terminated=True, truncated=False, success=True
    )


def test_the_penalty_of_a_reply_is_in_the_reward_of_its_turn_whatever_ended_it() -> None:
    episode = played()
    batch = collate([episode], rewards_of=lambda trace: shaped_rewards(trace, longest=10, last=4))

    assert batch.rewards.tolist() == [0.5, 0.5 - 0.75, 0.5 - 1.0]
    assert batch.episodes.magnitude.tolist() == [0.5 + 0.25 + 0.5]
    assert collate([episode]).rewards.tolist() == [0.5, 0.5, 0.5]


def test_a_metric_has_the_mean_penalty_of_a_reply_where_there_is_one() -> None:
    assert penalty_metrics([played(), played()], 10, 4) == {"overlong_penalty": pytest.approx((0.75 + 1) / 3)}
    assert penalty_metrics([played()], 10, 0) == {}
    assert penalty_metrics([], 10, 4) == {"overlong_penalty": 0}
