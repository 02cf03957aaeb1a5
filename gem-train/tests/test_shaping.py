"""The penalty of replies that are nearly too long, against the cases of its formula."""

import pytest

from gem.episode import Completion, Episode, Trace, Turn
from gem_train.batch import collate
from gem_train.shaping import overlong_penalty, shaped_rewards


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


def test_the_penalty_of_a_reply_is_in_the_reward_of_its_turn_whatever_ended_it() -> None:
    replies = (Completion("a", ids=(1,) * length, logprobs=(0.0,) * length, prompt_ids=(1,)) for length in (3, 9, 10))
    turns = tuple(Turn("", reply, 0.5, {}) for reply in replies)
    episode = Episode(
        id="a:A", seed=1, traces=(Trace(turns),), observation="", terminated=True, truncated=False, success=True
    )

    batch = collate([episode], rewards_of=lambda trace: shaped_rewards(trace, longest=10, last=4))

    assert batch.rewards.tolist() == [0.5, 0.5 - 0.75, 0.5 - 1.0]
    assert batch.episodes.magnitude.tolist() == [0.5 + 0.25 + 0.5]
    assert collate([episode]).rewards.tolist() == [0.5, 0.5, 0.5]
