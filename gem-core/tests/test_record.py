"""Recordings keep what was played, one whole line per episode, even if the process is killed."""

import base64
import hashlib
import itertools
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import gem
from gem.core import Env
from gem.episode import Completion, Episode, PackVersion, TokenTexts, Trace, Turn, Usage
from gem.episode.pictures import Pictures
from gem.errors import ConfigError, Failure, RecordError
from gem.packs.hookspecs import API_VERSION
from gem.packs.spec import EnvSpec
from gem.record import Recorder, read, torn_bytes
from gem.rollout import rollout
from gem.rollout.policy import expert_policy, random_policy

pytestmark = pytest.mark.usefixtures("core_only")

TESTS = Path(__file__).parent


def episode(text: str = "go", reward: float = 1.0, **changes: Any) -> Episode:
    turns = changes.pop("turns", (Turn("start", Completion(text), reward, {"success": True}),))
    fields = {
        "spec": EnvSpec(id="lab:Sum-v0", entry_point="sample_envs:Sum"),
        "terminated": True,
        "truncated": False,
        "success": True,
        **changes,
    }
    return Episode(id="lab:Sum-v0", seed=3, traces=(Trace(turns),), observation="end", **fields)


def record(path: Path, *episodes: Episode) -> None:
    with Recorder(path) as recorder:
        for each in episodes:
            recorder.write(each)


def actions(path: Path) -> list[str]:
    return [each.turns[0].action for each in read(path)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "episodes.jsonl"


def test_what_is_read_is_what_was_played(path: Path) -> None:
    policy = random_policy()
    with gem.make_vec("core:Echo-v0", 3, info_methods=policy.info_methods) as envs, Recorder(path) as recorder:
        played = list(recorder.record(rollout(policy, envs, range(7))))

    core = PackVersion(distribution="gem-core", version=gem.__version__)
    hintless = {"sample_action"}
    for kept, each in zip(read(path), played, strict=True):
        turns = [replace(turn, info={k: v for k, v in turn.info.items() if k not in hintless}) for turn in each.turns]
        assert list(kept.turns) == turns
        stamped = {"spec": kept.spec, "traces": kept.traces, "pack": core, "gem_core": gem.__version__}
        assert (kept, kept.key) == (replace(each, **stamped, api=API_VERSION), each.key)


def test_each_episode_is_in_the_file_before_it_is_passed_on(path: Path) -> None:
    with Recorder(path) as recorder:
        for number, _ in enumerate(recorder.record([episode("a"), episode("b"), episode("c")]), start=1):
            assert actions(path) == ["a", "b", "c"][:number]


def test_a_record_is_stamped_with_all_it_takes_to_play_it_again(path: Path) -> None:
    policy, before = expert_policy(), datetime.now(UTC)
    with (
        gem.make_vec(
            "sample_envs:Sum",
            1,
            info_methods=policy.info_methods,
            wrappers=["sample_envs:Loud"],
            env_kwargs={"rounds": 2, "max_turns": 9},
        ) as envs,
        Recorder(path) as recorder,
    ):
        (played,) = recorder.record(rollout(policy, envs, [5]))
    (kept,) = read(path)

    assert (kept.id, kept.seed, kept.group) == ("sample_envs:Sum", 5, 0)
    assert kept.spec == EnvSpec(
        id="sample_envs:Sum",
        entry_point="sample_envs:Sum",
        kwargs={"rounds": 2},
        max_turns=9,
        wrappers=("sample_envs:Loud",),
    )
    assert (kept.pack, kept.gem_core, kept.api) == (None, gem.__version__, API_VERSION)
    assert (kept.started, kept.seconds) == (played.started, played.seconds)
    assert kept.started is not None
    assert before <= kept.started <= datetime.now(UTC)
    assert [(turn.observation, turn.action, turn.reward) for turn in kept.turns] == [
        (turn.observation, turn.action, turn.reward) for turn in played.turns
    ]
    assert (kept.observation, kept.terminated, kept.truncated, kept.success) == ("DONE.", True, False, True)
    assert kept.failure is None


def test_the_info_is_kept_without_hints_and_without_what_json_cannot_say(path: Path) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    info = {"success": True, "sample_action": "x", "expert_action": "y", "set": {1}, "table": {"a": [1, None]}}
    info["deep"] = deep
    record(path, episode(turns=(Turn("start", Completion("go"), 0.0, info),)))
    ((turn,),) = [each.turns for each in read(path)]

    assert turn.info == {"success": True, "table": {"a": [1, None]}}


def test_an_info_that_is_called_as_something_of_an_env_is_kept(path: Path) -> None:
    info = {name: 3 for name in dir(Env) if name not in ("sample_action", "expert_action")}
    record(path, episode(turns=(Turn("start", Completion("go"), 0.0, info),)))

    (turn,) = next(iter(read(path))).turns
    assert turn.info == info


@pytest.mark.parametrize("text", ["a\nb\r\n", "\u2028\x85\x00", "\ud800 half a pair", "日本語", '"}\\'])
def test_no_text_breaks_a_line(path: Path, text: str) -> None:
    record(path, episode(text), episode("next"))

    assert path.read_bytes().count(b"\n") == 2
    assert actions(path) == [text, "next"]


@pytest.mark.parametrize("reward", [math.inf, -0.0, 0.1 + 0.2, 5e-324])
def test_a_reward_is_read_back_to_the_last_bit(path: Path, reward: float) -> None:
    record(path, episode(reward=reward))

    assert [each.turns[0].reward.hex() for each in read(path)] == [reward.hex()]


def test_content_parts_are_kept_as_they_are(path: Path) -> None:
    parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    record(path, episode(turns=(Turn(parts, Completion("go"), 0.0, {}),)))

    assert [each.turns[0].observation for each in read(path)] == [parts]


def test_how_a_reply_was_sampled_and_how_an_episode_started_are_kept(path: Path) -> None:
    usage = Usage(prompt=3, completion=2, seconds=0.5, requests=2)
    replies = [
        Completion("a", usage=usage, reasoning="Hm."),
        Completion("b", finish_reason="context", weight_versions=(3, 4)),
    ]
    turns = tuple(Turn("o", reply, 0.0, {}) for reply in replies)
    ended: dict[str, Any] = {"terminated": False, "truncated": True, "cut_off": True, "out_of_context": True}
    record(path, episode(turns=turns, options={"index": 2}, **ended), episode())
    kept, plain = read(path)

    assert [turn.completion for turn in kept.turns] == replies
    assert (kept.cut_off, kept.out_of_context, kept.options) == (True, True, {"index": 2})
    assert (plain.cut_off, plain.out_of_context, plain.options) == (False, False, None)
    with pytest.raises(RecordError, match="options that are not JSON"):
        record(path, episode(options={"index": {2}}))


def test_a_failure_is_kept_with_what_the_env_failed_on(path: Path) -> None:
    at_step = episode(failure=Failure("OSError: full", "Traceback …"), failed_on=Completion("break"))
    at_reset = episode(turns=(), failure=Failure("OSError: full", "Traceback …"))
    record(path, at_step, at_reset)
    first, second = read(path)

    assert first.failure == second.failure == Failure("OSError: full", "Traceback …")
    assert (first.failed_on, second.failed_on) == (Completion("break"), None)


def test_kwargs_that_json_cannot_say_are_refused_before_anything_is_written(path: Path) -> None:
    spec = EnvSpec(id="lab:Sum-v0", entry_point="sample_envs:Sum", kwargs={"sizes": {1, 2}})

    with Recorder(path) as recorder, pytest.raises(RecordError, match=r"'lab:Sum-v0' cannot be recorded.*\{1, 2\}"):
        recorder.write(episode(spec=spec))
    assert path.read_bytes() == b""


def test_labels_of_an_episode_are_read_back_and_are_values_of_json(path: Path) -> None:
    with Recorder(path) as recorder:
        recorder.write(episode(), {"phase": "train", "step": 3})
        recorder.write(episode())
        with pytest.raises(RecordError, match="labels of an episode must be JSON"):
            recorder.write(episode(), {"step": {3}})

    assert [each.labels for each in read(path)] == [{"phase": "train", "step": 3}, {}]


@pytest.mark.parametrize("observation", [None, ["text"], [{"type": "text", "text": b"text"}]])
def test_an_observation_that_json_cannot_say_is_refused_before_anything_is_written(
    path: Path, observation: object
) -> None:
    with pytest.raises(RecordError, match="an observation must be text or a list of content parts"):
        record(path, episode(turns=(Turn(observation, Completion("go"), 0.0, {}),)))

    assert path.read_bytes() == b""


def test_a_last_line_that_was_cut_off_anywhere_is_left_out_and_removed_on_appending(path: Path) -> None:
    record(path, episode("a"), episode("b"))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert torn_bytes(path) == end - first
        assert actions(path) == ["a"]
        record(path, episode("c"))
        assert torn_bytes(path) == 0
        assert actions(path) == ["a", "c"]


def test_a_first_line_that_was_cut_off_anywhere_is_removed_too(path: Path) -> None:
    record(path, episode("a"))
    whole = path.read_bytes()
    for end in range(len(whole) - 1):
        path.write_bytes(whole[:end])
        assert actions(path) == []
        record(path, episode("b"))
        assert actions(path) == ["b"]


def test_a_last_line_that_lacks_only_its_end_counts(path: Path) -> None:
    record(path, episode("a"), episode("b"))
    path.write_bytes(path.read_bytes()[:-1])

    assert torn_bytes(path) == 0
    assert actions(path) == ["a", "b"]
    record(path, episode("c"))
    assert actions(path) == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"my diary", b'{"name": "x"}\n', b'{"gem_record": 3, "id": "x"}\n', b"\n"])
def test_a_file_that_is_something_else_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(RecordError, match=r"is not a recording of this version.*choose another file"):
        Recorder(path)
    assert path.read_bytes() == content


def altered(**changes: object) -> Callable[[bytes], bytes]:
    return lambda line: json.dumps({**json.loads(line), **changes}).encode() + b"\n"


def test_a_file_has_one_recorder_at_a_time(path: Path) -> None:
    with Recorder(path), pytest.raises(RecordError, match="is being written by another command: wait until that ends"):
        Recorder(path)
    Recorder(path).close()


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda line: line[:50] + b"\n", "line 2: this is not JSON"),
        (lambda line: b"[" * 100_000 + b"\n", "line 2: this is not JSON"),
        (lambda line: b"[1]\n", "line 2: this is not an episode that gem-core recorded"),
        (
            altered(gem_record=3),
            "line 2: this episode has version 3 of the format, and this gem-core reads the versions 1 and 2",
        ),
        (altered(seed="seven"), r"line 2: Expected `int`, got `str` - at `\$.seed`"),
        (altered(colour="red"), "line 2: Object contains unknown field `colour`"),
    ],
)
def test_a_line_that_is_not_a_record_is_named_with_the_reason(
    path: Path, alter: Callable[[bytes], bytes], message: str
) -> None:
    record(path, episode("a"), episode("b"), episode("c"))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + alter(second) + third)
    records = read(path)

    assert next(records).turns[0].action == "a"
    with pytest.raises(RecordError, match=message):
        next(records)


ENDLESS = """
import itertools, sys
import gem
from gem.rollout.policy import random_policy
from gem.record import Recorder
from gem.rollout import rollout

policy = random_policy()
with gem.make_vec("core:Echo-v0", 4, info_methods=policy.info_methods) as envs, Recorder(sys.argv[1]) as recorder:
    for episode in recorder.record(rollout(policy, envs, itertools.count())):
        print(episode.seed, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_kill_9_loses_no_episode_that_was_passed_on(path: Path) -> None:
    command = [sys.executable, "-c", ENDLESS, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=TESTS, env={**os.environ, "GEM_PACKS": "core"}) as child:
        assert child.stdout is not None
        lines = list(itertools.islice(child.stdout, 200))
        child.kill()
        lines += child.stdout.readlines()
    seeds = [each.seed for each in read(path)]
    record(path, episode())

    assert child.returncode == -signal.SIGKILL
    passed_on = [int(line) for line in lines if line.endswith(b"\n")]  # the last line of a pipe may be cut off
    assert passed_on == seeds[: len(passed_on)]
    assert len(seeds) - len(passed_on) <= 1
    assert [each.seed for each in read(path)] == [*seeds, 3]


def test_the_tokens_of_a_reply_are_kept_where_the_policy_gives_them(path: Path) -> None:
    tokens = TokenTexts(("so", " be", " it"), (-0.25, -1.000049, -math.inf), mask=(1, 1, 0), prompt="user: start")
    said = Completion("so be it", tokens=tokens)
    record(path, episode(turns=(Turn("start", said, 1.0, {"success": True}),)), episode("plain"))

    (known, unknown) = read(path)
    assert known.turns[0].completion.tokens == replace(tokens, logprobs=(-0.25, -1.0, -math.inf))
    assert unknown.turns[0].completion.tokens is None
    assert '"tokens"' not in path.read_text().splitlines()[1]  # as recordings were before there were tokens


@pytest.mark.parametrize("wrong", [{"logprobs": [-1.0]}, {"mask": [1]}, {"mask": [2, 0]}, {"ids": [5, 6]}])
def test_tokens_whose_fields_do_not_fit_are_refused(path: Path, wrong: dict[str, Any]) -> None:
    record(path, episode("a b"))
    line = json.loads(path.read_text())
    line["traces"][0]["turns"][0]["completion"]["tokens"] = {"text": ["a", " b"], **wrong}
    path.write_text(json.dumps(line) + "\n")

    with pytest.raises(RecordError, match=r"line 1: .*`\$\.traces\[0\]\.turns\[0\]\.completion\.tokens"):
        list(read(path))
    if "ids" not in wrong and wrong != {"mask": [2, 0]}:
        with pytest.raises(ConfigError, match=r"tokens have 2 texts and 1 values of"):
            TokenTexts(("a", " b"), **{name: tuple(value) for name, value in wrong.items()})


def test_a_picture_is_kept_once_by_its_hash_and_comes_back(path: Path) -> None:
    picture = f"data:image/png;base64,{base64.b64encode(b'pixels').decode()}"
    parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": picture, "detail": "low"}}]
    record(path, episode(turns=(Turn(parts, Completion("go"), 0.0, {}),) * 3))
    name = f"{hashlib.sha256(b'pixels').hexdigest()}.png"

    (kept,) = read(path)
    assert kept.turns[2].observation == [
        parts[0],
        {"type": "image_url", "image_url": {"url": f"sha256:{name}", "detail": "low"}},
    ]
    assert [(each.name, each.read_bytes()) for each in (path.parent / "pictures").iterdir()] == [(name, b"pixels")]
    assert [turn.observation for turn in Pictures(path.with_name("pictures")).put_into(kept).turns] == [parts] * 3
    (path.parent / "pictures" / name).write_bytes(b"other")
    assert Pictures(path.with_name("pictures")).put_into(kept) == kept


def test_pictures_are_put_in_up_to_a_number_of_bytes_each_as_often_as_it_is_shown(path: Path) -> None:
    content = b"\x89PNG" + bytes(96)
    url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    shown = [{"type": "image_url", "image_url": {"url": url}}]
    with Recorder(path) as recorder:
        recorder.write(episode(turns=(Turn(shown, Completion("go"), 1.0, {"success": True}),)))
    [kept] = read(path)
    few = Pictures(path.with_name("pictures"), 250)
    assert [few.put_into(kept).turns[0].observation == shown for _ in range(4)] == [True, True, False, False]
