"""Replaying finds every alteration, and grades by the rules of the day."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sample_envs import Fragile, Sum

import gem
import gem_eval
from gem.core import Step
from gem.episode import Completion, Episode, PackVersion, Turn
from gem.record import Recorder, load_recorded, read
from gem.rollout import Start, rollout
from gem.rollout.policy import Policy, expert_policy, random_policy
from gem_eval import Difference, outdated

pytestmark = pytest.mark.usefixtures("core_only")

# The env of these tests is not in a pack. What recordings may do without trust is in tests/test_hostile_recordings.py.
reproduce = functools.partial(gem_eval.reproduce, trust=True)
rescore = functools.partial(gem_eval.rescore, trust=True)


def played(
    tmp_path: Path, policy: Policy, id: str = "sample_envs:Sum", seeds: int = 1, **settings: Any
) -> list[Episode]:
    path = tmp_path / "episodes.jsonl"
    with gem.make_vec(id, 2, info_methods=policy.info_methods, **settings) as envs, Recorder(path) as recorder:
        list(recorder.record(rollout(policy, envs, range(seeds))))
    return list(read(path))


@pytest.fixture
def won(tmp_path: Path) -> Episode:
    """Three turns that earn 1 each, the last of which ends the episode with a success."""
    return played(tmp_path, expert_policy(), env_kwargs={"max_turns": 4})[0]


@pytest.mark.parametrize("make_policy", [random_policy, expert_policy])
@pytest.mark.parametrize("wrappers", ["", "concat_chat", "concat_with_action,sample_envs:Counted"])
def test_every_byte_comes_out_the_same(tmp_path: Path, make_policy: Callable[[], Policy], wrappers: str) -> None:
    records = played(tmp_path, make_policy(), seeds=10, wrappers=wrappers, env_kwargs={"rounds": 2, "max_turns": 4})

    assert len(records) == 10
    assert {",".join(record.spec.wrappers) for record in records} == {wrappers}
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
    resumed = load_recorded(records, [spec], [episode.start for episode in played[:2]], "random", None)
    assert resumed == ({}, 4), "of another policy"
    mine = load_recorded(records, [spec], [episode.start for episode in played[:2]], None, None)  # type: ignore[arg-type]
    assert (set(mine.episodes), mine.others) == ({episode.start for episode in played[:2]}, 2)


def test_wrappers_with_settings_are_recorded_and_reproduced(tmp_path: Path) -> None:
    limit = {"name": "episode_tracking"}
    tools = {"name": "tool_env", "tools": "tool_samples:python", "max_calls": 2}
    (record,) = played(tmp_path, expert_policy(), wrappers=[limit, tools])

    assert record.spec is not None
    assert record.spec.wrappers == (limit, tools)
    assert "You have 2 calls." in str(record.turns[0].observation)
    assert reproduce(record) is None
    fewer = with_spec(record, wrappers=(limit, {**tools, "max_calls": 1}))
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
def test_a_record_names_no_other_thing_to_call(won: Episode, changes: dict[str, Any], message: str) -> None:
    spec = {name: changes.pop(name) for name in ("entry_point", "kwargs") if name in changes}
    difference = reproduce(replace(with_spec(won, **{"kwargs": {"args": ["true"]}, **spec}), **changes))

    assert difference is not None
    assert message in difference.replayed


def with_turns(record: Episode, *turns: Turn) -> Episode:
    return record.each_trace(lambda trace: replace(trace, turns=turns))


def with_turn(record: Episode, index: int, **changes: Any) -> Episode:
    turns = list(record.turns)
    turns[index] = replace(turns[index], **changes)
    return with_turns(record, *turns)


def with_spec(record: Episode, **changes: Any) -> Episode:
    assert record.spec is not None
    return replace(record, spec=replace(record.spec, **changes))


def longer(record: Episode) -> Episode:
    return with_turns(record, *record.turns, Turn(record.observation, Completion("more"), 0.0, {}))


ALTERATIONS: dict[str, tuple[Callable[[Episode], Episode], int, str]] = {
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
    "the last observation": (lambda record: replace(record, observation="Done"), 3, "observation"),
    "text as a content part": (
        lambda record: replace(record, observation=[{"type": "text", "text": "Done."}]),
        3,
        "observation",
    ),
    "an action": (lambda record: with_turn(record, 1, completion=Completion("\\boxed{0}")), 2, "observation"),
    "the last action": (lambda record: with_turn(record, 2, completion=Completion("\\boxed{0}")), 3, "observation"),
    "a reward": (lambda record: with_turn(record, 1, reward=1.0000000000000002), 2, "reward"),
    "the seed": (lambda record: replace(record, seed=record.seed + 1), 0, "observation"),
    "an invalid seed": (lambda record: replace(record, seed=-1), 0, "error"),
    "terminated": (lambda record: replace(record, terminated=False), 3, "terminated"),
    "truncated": (lambda record: replace(record, truncated=True), 3, "truncated"),
    "success": (lambda record: replace(record, success=False), 3, "success"),
    "a kwarg": (lambda record: with_spec(record, kwargs={"rounds": 2}), 2, "observation"),
    "an unknown kwarg": (lambda record: with_spec(record, kwargs={"round": 2}), 0, "error"),
    "the turn limit": (lambda record: with_spec(record, max_turns=2), 2, "truncated"),
    "the wrappers": (lambda record: with_spec(record, wrappers=("sample_envs:Loud",)), 1, "observation"),
    "the end": (
        lambda record: replace(
            with_turns(record, *record.turns[:2]),
            observation=record.turns[2].observation,
            terminated=False,
            success=False,
        ),
        2,
        "error",
    ),
    "one turn more": (longer, 3, "terminated"),
    "one turn less": (lambda record: with_turns(record, *record.turns[:2]), 2, "observation"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_alteration_is_found_where_it_first_shows(won: Episode, name: str) -> None:
    alter, turn, what = ALTERATIONS[name]
    difference = reproduce(alter(won))

    assert difference is not None
    assert (difference.turn, difference.what) == (turn, what)


def test_a_difference_shows_both_sides(won: Episode) -> None:
    assert reproduce(with_turn(won, 1, reward=0.5)) == Difference(2, "reward", 0.5, 1.0)


def test_a_zero_with_the_other_sign_is_another_byte(tmp_path: Path) -> None:
    (record,) = [
        each
        for each in played(tmp_path, random_policy(), env_kwargs={"largest": 1, "max_turns": 4})
        if each.turns[0].reward == 0.0
    ]

    assert reproduce(with_turn(record, 0, reward=-0.0)) == Difference(1, "reward", -0.0, 0.0)


def test_an_env_that_raises_in_the_replay_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (record,) = played(tmp_path, expert_policy(), id="sample_envs:Fragile")
    monkeypatch.setattr(Fragile, "_step", lambda env, action: 1 / 0)

    assert reproduce(record) == Difference(1, "error", None, "ZeroDivisionError: division by zero")
    assert rescore(record).error == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("observation", [None, 3, ["Done."], [{"type": "text", "text": b"Done."}]])
def test_an_observation_that_cannot_be_compared_is_an_error_that_says_so(
    won: Episode, monkeypatch: pytest.MonkeyPatch, observation: Any
) -> None:
    monkeypatch.setattr(Sum, "_step", lambda env, action: Step.ongoing(observation))

    turn, what, _, error = reproduce(won) or (None,) * 4
    assert (turn, what) == (1, "error")
    assert error.startswith("RecordError: an observation must be text or a list of content parts")
    assert rescore(won).error == error


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda won: replace(won, spec=None), "its env was not built by gem.make"),
        (
            lambda won: with_spec(won, entry_point="subprocess:run", kwargs={"args": ["true"]}),
            "'subprocess:run' is not an environment",
        ),
        (lambda won: with_spec(won, entry_point="no_such_module:Env"), "No module named 'no_such_module'"),
        (lambda won: with_spec(won, wrappers=("<lambda>",)), "no installed pack has a wrapper '<lambda>'"),
        (
            lambda won: replace(won, id="rg:letters", pack=PackVersion("gem-envs-reasoning", "1.0")),
            "gem-envs-reasoning",
        ),
    ],
)
def test_what_cannot_be_built_again_says_why(won: Episode, changed: Callable[[Episode], Episode], message: str) -> None:
    difference = reproduce(changed(won))

    assert difference is not None
    assert (difference.turn, difference.what) == (0, "error")
    assert message in difference.replayed


def test_a_registered_id_is_built_as_its_pack_says_today(tmp_path: Path) -> None:
    (record,) = played(tmp_path, expert_policy(), id="core:Echo-v0", seeds=1)
    moved = with_spec(record, entry_point="gem.envs.where_it_was:Echo")

    assert reproduce(moved) is None


def test_versions_that_are_others_today_are_named(won: Episode) -> None:
    old, gone = PackVersion("gem-core", "0.0.1"), PackVersion("gem-envs-gone", "3.0")

    assert outdated(won) == {}
    assert outdated(replace(won, pack=old))["gem-core"][0] == "0.0.1"
    assert outdated(replace(won, pack=gone)) == {"gem-envs-gone": ("3.0", None)}


def test_stricter_rules_lose_a_success(won: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
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
    (lost,) = played(tmp_path, random_policy(), env_kwargs={"rounds": 50, "max_turns": 4})
    monkeypatch.setattr(Sum, "_step", lambda env, action: Step.final("Never mind.", 7.0, success=True))

    assert rescore(lost).success == (False, True)
    assert rescore(lost).total_reward[1] == 7.0


def test_another_reward_is_a_change_without_a_flip(won: Episode) -> None:
    score = rescore(with_turn(won, 0, reward=0.25))

    assert (score.success, score.total_reward) == ((True, True), (2.25, 3.0))
    assert score.changed
    assert not score.flipped


def test_actions_that_now_answer_other_observations_are_called_diverged(
    won: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rescore(with_turn(won, 1, observation="The next number is 0.")).diverged == 2
    assert rescore(replace(won, observation="Well done.")).diverged is None
