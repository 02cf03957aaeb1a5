"""The metrics of a step, from episodes written by hand."""

import pytest

from gem.episode import Completion, Episode, Trace, Turn
from gem.errors import Failure
from gem_train.runs.step_metrics import StepClock, play_metrics


def episode(*replies: Completion, rewards: tuple[float, ...], id: str = "a", **other: object) -> Episode:
    infos = [{} for _ in replies]
    turns = tuple(Turn("", *each) for each in zip(replies, rewards, infos, strict=True))
    facts = {"terminated": True, "truncated": False, "success": rewards[-1] > 0, **other}
    return Episode(id=id, seed=0, traces=(Trace(turns),), observation="", **facts)


def reply(*versions: int, **other: object) -> Completion:
    return Completion("x", ids=(1, 2), weight_versions=versions, **other)


def test_the_metrics_count_replies_segments_and_lags_as_by_hand():
    found = play_metrics(
        [
            episode(reply(3, new_segment=True), reply(3, 5), rewards=(0.0, 1.0)),
            episode(reply(5), reply(5, new_segment=True, finish_reason="context"), rewards=(0.0, 0.0)),
            episode(reply(4, finish_reason="length"), rewards=(0.0,), failure=Failure("E: x", "")),
        ],
        version=5,
    )
    assert found["success"] == 0.5
    assert found["return"] == 0.5
    assert found["failures"] == 1
    assert found["tokens"] == 10
    assert found["cut_replies"] == pytest.approx(2 / 5)
    assert found["segments"] == pytest.approx(1 + 1 / 3)  # the first reply of an episode starts no new one
    assert found["lag"] == pytest.approx((2 + 2 + 0 + 0 + 1) / 5)
    assert found["lag_max"] == 2
    assert found["alike"] == 0.0


@pytest.mark.parametrize(("rewards", "alike"), [((0.0, 1.0), 1.0), ((1.0, 0.0), 0.0)])
def test_episodes_are_alike_if_they_were_rewarded_alike_turn_by_turn(rewards, alike):
    failed = episode(reply(), rewards=(7.0,), failure=Failure("E: x", ""))
    each = [episode(reply(), reply(), rewards=(0.0, 1.0)), episode(reply(), reply(), rewards=rewards, id="b"), failed]
    found = play_metrics(each, version=0)
    assert found["alike"] == alike
    assert {"success/a", "success/b"} <= found.keys()


def test_the_clock_of_a_step_starts_again_at_the_next():
    clock = StepClock()
    with clock.of("play"), clock.of("learn"):
        pass
    first = clock.metrics(tokens=100)
    assert first["seconds_play"] > 0
    assert first["seconds_sync"] == 0
    whole = first["seconds_play"] + first["seconds_learn"]
    assert first["tokens_per_second"] == pytest.approx(100 / whole)
    assert clock.metrics(tokens=100) == dict.fromkeys(first, 0.0)
