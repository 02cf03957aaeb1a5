"""Replaying finds every alteration, and grades by the rules of the day."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_envs import Fragile, Sum

import gem
from gem import record as recordings
from gem.core import Step
from gem.record import Difference, EpisodeRecord, PackVersion, Recorder, TurnRecord, outdated, read
from gem.rollout import Start, rollout
from gem.rollout.policy import Policy, expert_policy, random_policy

pytestmark = pytest.mark.usefixtures("core_only")

# The env of these tests is not in a pack. What recordings may do without trust is in tests/test_hostile_recordings.py.
reproduce = functools.partial(recordings.reproduce, trust=True)
rescore = functools.partial(recordings.rescore, trust=True)


def played(
    tmp_path: Path, policy: Policy, id: str = "sample_envs:Sum", seeds: int = 1, **settings: Any
) -> list[EpisodeRecord]:
    path = tmp_path / "episodes.jsonl"
    with gem.make_vec(id, 2, info_methods=policy.info_methods, **settings) as envs, Recorder(path) as recorder:
        list(recorder.record(rollout(policy, envs, range(seeds))))
    return list(read(path))


@pytest.fixture
def won(tmp_path: Path) -> EpisodeRecord:
    """Three turns that earn 1 each, the last of which ends the episode with a success."""
    return played(tmp_path, expert_policy(), max_turns=4)[0]


@pytest.mark.parametrize("make_policy", [random_policy, expert_policy])
@pytest.mark.parametrize("wrappers", ["", "concat_chat", "concat_with_action,sample_envs:Counted"])
def test_every_byte_comes_out_the_same(tmp_path: Path, make_policy: Callable[[], Policy], wrappers: str) -> None:
    records = played(tmp_path, make_policy(), seeds=10, wrappers=wrappers, rounds=2, max_turns=4)

    assert len(records) == 10
    assert {",".join(record.wrappers) for record in records} == {wrappers}
    assert [reproduce(record) for record in records] == [None] * 10
    assert not any(rescore(record).changed or rescore(record).error for record in records)


def test_an_episode_is_replayed_with_the_options_of_its_start(tmp_path: Path) -> None:
    path, policy = tmp_path / "episodes.jsonl", random_policy()
    starts = [Start(7, options={"index": index}) for index in range(4)]
    with (
        gem.make_vec("test_dataset_env:Capital", 2, info_methods=policy.info_methods) as envs,
        Recorder(path) as recorder,
    ):
        played = list(recorder.record(rollout(policy, envs, starts)))
    records = list(read(path))

    assert [reproduce(record) for record in records] == [None] * 4
    assert len({record.turns[0].observation for record in records}) == 4
    spec = played[0].spec
    assert spec is not None
    resumed = recordings.load_recorded(path, [spec], [episode.start for episode in played[:2]], "random", None)
    assert resumed == ({}, 4), "of another policy"
    mine = recordings.load_recorded(path, [spec], [episode.start for episode in played[:2]], None, None)  # type: ignore[arg-type]
    assert (set(mine.episodes), mine.others) == ({episode.start for episode in played[:2]}, 2)


def test_wrappers_with_settings_are_recorded_and_reproduced(tmp_path: Path) -> None:
    limit = {"name": "episode_tracking"}
    tools = {"name": "tool_env", "tools": "tool_samples:python", "max_calls": 2}
    (record,) = played(tmp_path, expert_policy(), wrappers=[limit, tools])

    assert record.wrappers == (limit, tools)
    assert "You have 2 calls." in str(record.turns[0].observation)
    assert reproduce(record) is None
    fewer = record.model_copy(update={"wrappers": (limit, {**tools, "max_calls": 1})})
    assert reproduce(fewer).what == "observation"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entry_point": "subprocess:Popen"}, "is not an environment"),
        ({"entry_point": "gem:ToolEnv", "kwargs": {"tools": ["python"]}}, "'gem:ToolEnv' is not an environment"),
        ({"id": "subprocess:Popen", "pack": PackVersion(distribution="x", version="1")}, "no installed pack provides"),
        ({"id": "sample_envs:Sum", "pack": PackVersion(distribution="x", version="1")}, "no installed pack provides"),
    ],
)
def test_a_record_names_no_other_thing_to_call(won: EpisodeRecord, changes: dict[str, Any], message: str) -> None:
    difference = reproduce(won.model_copy(update={"kwargs": {"args": ["true"]}, **changes}))

    assert difference is not None
    assert message in difference.replayed


def with_turn(record: EpisodeRecord, index: int, **changes: Any) -> EpisodeRecord:
    turns = list(record.turns)
    turns[index] = turns[index].model_copy(update=changes)
    return record.model_copy(update={"turns": tuple(turns)})


def longer(record: EpisodeRecord) -> EpisodeRecord:
    turn = TurnRecord(observation=record.observation, action="more", reward=0.0, info={})
    return record.model_copy(update={"turns": (*record.turns, turn)})


ALTERATIONS: dict[str, tuple[Callable[[EpisodeRecord], EpisodeRecord], int, str]] = {
    "the first observation": (
        lambda record: with_turn(record, 0, observation="The next number is 0."),
        0,
        "observation",
    ),
    "a middle observation": (
        lambda record: with_turn(record, 1, observation="The next number is 0."),
        1,
        "observation",
    ),
    "the last observation": (lambda record: record.model_copy(update={"observation": "Done"}), 3, "observation"),
    "text as a content part": (
        lambda record: record.model_copy(update={"observation": [{"type": "text", "text": "Done."}]}),
        3,
        "observation",
    ),
    "an action": (lambda record: with_turn(record, 1, action="\\boxed{0}"), 2, "observation"),
    "the last action": (lambda record: with_turn(record, 2, action="\\boxed{0}"), 3, "observation"),
    "a reward": (lambda record: with_turn(record, 1, reward=1.0000000000000002), 2, "reward"),
    "the seed": (lambda record: record.model_copy(update={"seed": record.seed + 1}), 0, "observation"),
    "an invalid seed": (lambda record: record.model_copy(update={"seed": -1}), 0, "error"),
    "terminated": (lambda record: record.model_copy(update={"terminated": False}), 3, "terminated"),
    "truncated": (lambda record: record.model_copy(update={"truncated": True}), 3, "truncated"),
    "success": (lambda record: record.model_copy(update={"success": False}), 3, "success"),
    "a kwarg": (lambda record: record.model_copy(update={"kwargs": {"rounds": 2}}), 2, "observation"),
    "an unknown kwarg": (lambda record: record.model_copy(update={"kwargs": {"round": 2}}), 0, "error"),
    "the turn limit": (lambda record: record.model_copy(update={"max_turns": 2}), 2, "truncated"),
    "the wrappers": (lambda record: record.model_copy(update={"wrappers": ("sample_envs:Loud",)}), 1, "observation"),
    "the end": (
        lambda record: record.model_copy(
            update={"turns": record.turns[:2], "observation": record.turns[2].observation}
            | {"terminated": False, "success": False}
        ),
        2,
        "error",
    ),
    "one turn more": (longer, 3, "terminated"),
    "one turn less": (lambda record: record.model_copy(update={"turns": record.turns[:2]}), 2, "observation"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_alteration_is_found_where_it_first_shows(won: EpisodeRecord, name: str) -> None:
    alter, turn, what = ALTERATIONS[name]
    difference = reproduce(alter(won))

    assert difference is not None
    assert (difference.turn, difference.what) == (turn, what)


def test_a_difference_shows_both_sides(won: EpisodeRecord) -> None:
    assert reproduce(with_turn(won, 1, reward=0.5)) == Difference(2, "reward", 0.5, 1.0)


def test_a_zero_with_the_other_sign_is_another_byte(tmp_path: Path) -> None:
    (record,) = [
        each for each in played(tmp_path, random_policy(), largest=1, max_turns=4) if each.turns[0].reward == 0.0
    ]

    assert reproduce(with_turn(record, 0, reward=-0.0)) == Difference(1, "reward", -0.0, 0.0)


def test_an_env_that_raises_in_the_replay_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (record,) = played(tmp_path, expert_policy(), id="sample_envs:Fragile")
    monkeypatch.setattr(Fragile, "_step", lambda env, action: 1 / 0)

    assert reproduce(record) == Difference(1, "error", None, "ZeroDivisionError: division by zero")
    assert rescore(record).error == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("observation", [None, 3, ["Done."], [{"type": "text", "text": b"Done."}]])
def test_an_observation_that_cannot_be_compared_is_an_error_that_says_so(
    won: EpisodeRecord, monkeypatch: pytest.MonkeyPatch, observation: Any
) -> None:
    monkeypatch.setattr(Sum, "_step", lambda env, action: Step.ongoing(observation))

    turn, what, _, error = reproduce(won) or (None,) * 4
    assert (turn, what) == (1, "error")
    assert error.startswith("RecordError: an observation must be text or a list of content parts")
    assert rescore(won).error == error


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entry_point": None}, "its env was not built by gem.make"),
        ({"entry_point": "subprocess:run", "kwargs": {"args": ["true"]}}, "'subprocess:run' is not an environment"),
        ({"entry_point": "no_such_module:Env"}, "No module named 'no_such_module'"),
        ({"wrappers": ("<lambda>",)}, "no installed pack has a wrapper '<lambda>'"),
        (
            {"id": "rg:letters", "pack": {"distribution": "gem-envs-reasoning", "version": "1.0"}},
            "gem-envs-reasoning",
        ),
    ],
)
def test_what_cannot_be_built_again_says_why(won: EpisodeRecord, changes: dict[str, Any], message: str) -> None:
    difference = reproduce(EpisodeRecord.model_validate({**won.model_dump(), **changes}))

    assert difference is not None
    assert (difference.turn, difference.what) == (0, "error")
    assert message in difference.replayed


def test_a_registered_id_is_built_as_its_pack_says_today(tmp_path: Path) -> None:
    (record,) = played(tmp_path, expert_policy(), id="core:Echo-v0", seeds=1)
    moved = record.model_copy(update={"entry_point": "gem.envs.where_it_was:Echo"})

    assert reproduce(moved) is None


def test_versions_that_are_others_today_are_named(won: EpisodeRecord) -> None:
    old = {"distribution": "gem-core", "version": "0.0.1"}
    gone = {"distribution": "gem-envs-gone", "version": "3.0"}

    assert outdated(won) == {}
    assert outdated(EpisodeRecord.model_validate({**won.model_dump(), "pack": old}))["gem-core"][0] == "0.0.1"
    assert outdated(EpisodeRecord.model_validate({**won.model_dump(), "pack": gone})) == {
        "gem-envs-gone": ("3.0", None)
    }


def test_stricter_rules_lose_a_success(won: EpisodeRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Sum._step

    def stricter(env: Sum, action: str) -> Step:
        step = rules(env, action)
        return Step.final("Too slow.", 0.5, success=False) if step.terminated else step

    monkeypatch.setattr(Sum, "_step", stricter)
    score = rescore(won)

    assert (score.success, score.total_reward) == ((True, False), (3.0, 2.5))
    assert score.flipped
    assert (score.diverged, score.error) == (None, None)


def test_kinder_rules_win_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lost,) = played(tmp_path, random_policy(), rounds=50, max_turns=4)
    monkeypatch.setattr(Sum, "_step", lambda env, action: Step.final("Never mind.", 7.0, success=True))

    assert rescore(lost).success == (False, True)
    assert rescore(lost).total_reward[1] == 7.0


def test_another_reward_is_a_change_without_a_flip(won: EpisodeRecord) -> None:
    score = rescore(with_turn(won, 0, reward=0.25))

    assert (score.success, score.total_reward) == ((True, True), (2.25, 3.0))
    assert score.changed
    assert not score.flipped


def test_actions_that_now_answer_other_observations_are_called_diverged(
    won: EpisodeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rescore(with_turn(won, 1, observation="The next number is 0.")).diverged == 2
    assert rescore(won.model_copy(update={"observation": "Well done."})).diverged is None
