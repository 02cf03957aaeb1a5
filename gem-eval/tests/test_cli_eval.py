"""`gemx eval`: who plays, what is played, and what is left after an end in the middle."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from policy_samples import CALLS
from rich.progress import Progress

import gem
from gem.cli.main import main
from gem.episode import Episode
from gem.errors import PolicyError
from gem.record import Recorder, read
from gem.rollout.function_policy import FunctionPolicy
from gem.rollout.named_policies import make_policy
from gem.testing.chat_server import Trouble, chat_server
from gem_eval import evaluate
from gem_eval.cli.report import SoFar

pytestmark = pytest.mark.usefixtures("core_only")

ECHO, SUM = "core:Echo-v0", "sample_envs:Sum"


def gemx(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def run(*arguments: str | Path) -> dict[str, Any]:
    done = gemx("eval", *arguments, "--json")
    assert "Traceback" not in done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("policy", "settings", "message"),
    [
        ("policy_samples:nothing", [], "returns a str, not a gem.Policy"),
        ("policy_samples:NOTHING", [], "is a int, neither a gem.Policy nor callable"),
        ("gem.packs.echo:Echo", [], "returns a Echo, not a gem.Policy"),
        ("policy_samples:Abstract", [], "cannot be built: TypeError: Can't instantiate abstract class Abstract"),
        ("policy_samples:Breaking", ["built=false"], "cannot be built: ValueError: no weights here"),
        ("policy_samples:Breaking", ["answrs=1"], "takes no argument 'answrs'. Did you mean 'answers'?"),
        ("policy_samples:Breaking", ["answers"], "--model-arg takes KEY=VALUE"),
        ("policy_samples:Breaking", ["name=x"], "--model-arg is for settings of the model"),
        ("policy_samples:parrot", ["wort=x"], "takes no argument 'wort'. Did you mean 'word'?"),
        ("policy_samples:parrot", ["at_once=0"], "at_once must be an integer >= 1, not 0"),
        ("policy_samples:READY", ["word=x"], "is an instance, and does not take settings, such as 'word'"),
        ("random,expert", [], "--model takes one model"),
        ("opnai:gpt", [], "the module 'opnai' of the policy 'opnai:gpt' does not exist. Did you mean 'openai'?"),
        ("no_such_module:answer", [], "the module 'no_such_module'"),
        ("policy_samples:parot", [], "Did you mean 'parrot'"),
        ("policy_samples:parrot", ["wort=x"], "It takes: word, fails_at."),
        ("policy_samples:unclear", [], "gemx: 'unclear' has the parameters (messages, foo, bar); a function that is"),
        ("runs/there/is/none", [], "the folder 'runs/there/is/none' does not exist"),
        ("openai:", [], "model is the name of a model at the server, not empty"),
        ("openai:one", ["model=two"], "'openai:one' names its model already; leave out the setting 'model', 'two'"),
        (".", [], "'.' is a model that runs here, which needs gem-train: pip install ./gem-eval ./gem-train"),
    ],
)
def test_what_cannot_be_a_policy_is_one_line(policy: str, settings: list[str], message: str) -> None:
    options = [part for each in settings for part in ("--model-arg", each)]
    done = gemx("eval", ECHO, "--model", policy, *options)

    assert done.exit_code == 1
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["mine", "mine.py", "mine.py:answer", "./mine.py:answer", "sub/mine.py", "mine.answer"]
)
def test_the_error_for_a_file_name_says_what_to_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ("sub/mine.py" if name.startswith("sub") else "mine.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text("def answer(observation):\n    return observation\n")
    monkeypatch.chdir(tmp_path)

    printed = gemx("eval", ECHO, "--model", name).stderr

    module = ".".join(file.relative_to(tmp_path).with_suffix("").parts)
    assert (
        f"For an object in {file.relative_to(tmp_path)} write {module}:{'answer' if 'answer' in name else 'NAME'}."
        in printed
    )


@pytest.mark.parametrize(
    "policy",
    [
        "policy_samples:parrot",
        "policy_samples:READY",
        "policy_samples:UNHASHABLE",
        '{"name": "policy_samples:make_parrot", "word": ""}',
        "expert",
    ],
)
def test_a_policy_is_a_function_or_what_makes_one_or_a_policy(policy: str) -> None:
    assert run(ECHO, "--model", policy, "--episodes", "5")["failures"] == 0


def test_a_name_that_a_pack_offers_is_that_policy_where_a_folder_is_called_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expert").mkdir()

    assert run(ECHO, "--model", "expert", "--episodes", "2")["model"] == "expert"
    (tmp_path / "checkpoint").mkdir()
    assert "'checkpoint' is a model that runs here" in gemx("eval", ECHO, "--model", "checkpoint").stderr


def test_settings_of_a_policy_reach_it_and_those_that_change_replies_are_in_the_report() -> None:
    printed = run(ECHO, "--model", "policy_samples:parrot", "--model-arg", "word=x", "--model-arg", "at_once=1")

    assert printed["model"] == "policy_samples:parrot(word='x')"
    with pytest.raises(PolicyError, match="does not take settings"):
        make_policy({"name": "policy_samples:READY", "word": 1})
    assert isinstance(make_policy("policy_samples:parrot"), FunctionPolicy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([SUM, "core:Ecko-v0"], "Did you mean 'core:Echo-v0'?"),
        ([ECHO, "--wrappers", "concatt"], "no installed pack has a wrapper 'concatt'. Did you mean 'concat'"),
        ([ECHO, "--wrappers", "no_such_module:Wrapper"], "the module 'no_such_module'"),
        ([ECHO, "--tools", "pyton"], "no installed pack has a tool 'pyton'"),
        ([ECHO, "--tools", '[{"name": "no_such_module:tool"}]'], "the module 'no_such_module'"),
        ([ECHO, "--wrappers", '{"name": "turn_limit", "max_turns": 0}'], "max_turns must be an integer >= 1"),
        ([SUM, "--arg", "max_turns=0"], "max_turns must be an integer >= 1"),
        ([SUM, "--arg", "sze=3"], "takes no argument 'sze'"),
        ([","], "no id was given"),
    ],
)
def test_whatever_is_wrong_is_found_before_the_policy_is_imported(arguments: list[str], message: str) -> None:
    sys.modules.pop("never_imported", None)
    done = gemx("eval", *arguments, "--model", "never_imported:policy")

    assert done.exit_code == 1
    assert message in done.stderr
    assert "never_imported" not in sys.modules


def test_a_wrong_policy_is_found_before_the_env_is_imported() -> None:
    done = gemx("eval", "never_imported:Env", "--model", "exprt")

    assert "Did you mean 'expert'?" in done.stderr
    assert "never_imported" not in sys.modules


@pytest.fixture(autouse=True)
def never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is found, and must not be imported."""
    (tmp_path / "never_imported.py").write_text("raise SystemExit('it was imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    CALLS.clear()


def test_every_id_is_played_as_often_and_reported_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    options = (ECHO, f"{SUM},{SUM}", "--model", "expert", "--episodes", "10")
    printed = run(*options)
    shown = gemx("eval", *options).stdout.splitlines()

    assert (printed["id"], printed["episodes"], printed["items"]) == ("all", 20, 20)
    assert [(each["id"], each["episodes"], each["turns_mean"]) for each in printed["ids"]] == [
        (ECHO, 10, 1.0),
        (SUM, 10, 3.0),
    ]
    assert [line.split() for line in shown[-2:]] == [
        [ECHO, "100.0%", "72.2%", "to", "100.0%", "1.000", "10", "0"],
        [SUM, "100.0%", "72.2%", "to", "100.0%", "3.000", "10", "0"],
    ]


def test_no_more_envs_are_made_than_episodes_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    slots: list[int] = []
    make_vec = gem.make_vec

    def watched(ids: Any, num_envs: int, **options: Any) -> gem.VectorEnv:
        slots.append(num_envs)
        return make_vec(ids, num_envs, **options)

    monkeypatch.setattr("gem_eval.evaluation.make_vec", watched)
    for episodes, options in [("3", ["--num-envs", "64"]), ("100", []), ("5", ["--num-envs", "2"])]:
        run(ECHO, "--episodes", episodes, *options)
    assert slots == [3, 16, 2]


@pytest.mark.parametrize(
    ("options", "most"), [([], 64), (["--num-envs", "5"], 5), (["--model-arg", "concurrency=7"], 7)]
)
def test_a_chat_api_is_asked_as_often_at_once_as_its_policy_may(options: list[str], most: int) -> None:
    with chat_server(lambda messages: "x", Trouble(latency=lambda rng: 0.5)) as server:
        where = ["--model", "openai:any", "--base-url", server.url, "--no-floors"]
        run(ECHO, "--episodes", str(most + 3), *where, *options)
    assert server.most == most


def test_an_env_that_does_not_end_is_cut_off_and_the_report_says_so(tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    options = ("test_rollout:Endless", "--episodes", "3", "--out", tmp_path / "out")

    assert run(*options, "--max-turns", "4")["cut_off"] == 3
    assert run(*options, "--max-turns", "4")["resumed"] == 3
    assert run(*options, "--max-turns", "5")["resumed"] == 0
    assert "cut off" in gemx("eval", *options, "--max-turns", "6").stdout
    assert [(len(record.turns), record.cut_off) for record in read(path)] == [(4, True)] * 3 + [(5, True)] * 3 + [
        (6, True)
    ] * 3
    assert gemx("reproduce", path, "--trust").exit_code == 0


def test_a_failed_request_is_a_failed_episode_and_is_played_again_by_the_next_run(tmp_path: Path) -> None:
    options = (SUM, "--episodes", "20", "--out", tmp_path / "out")
    policy = ("--model", "policy_samples:parrot")
    flaky = run(*options, *policy, "--model-arg", "fails_at=is 7.")
    assert 0 < flaky["failures"] < 20
    assert (flaky["episodes"], flaky["partial"]) == (20, False)
    shown = gemx("eval", SUM, "--episodes", "20", "--k", "2", *policy, "--model-arg", "fails_at=is 7.").stdout
    rows = {line.split()[0]: line for line in shown.splitlines()}
    assert "40, 2 attempts at each of 20 items" in rows["episodes"]
    assert rows["success"].rstrip().endswith(f"of {20 - flaky['failures']} items")
    assert rows["random"].rstrip().endswith("of 20 items")

    calls = len(CALLS)
    again = run(*options, *policy, "--model-arg", "fails_at=is 7.")
    assert again["resumed"] == 20 - flaky["failures"]
    assert again["episodes"] == 20
    assert len(CALLS) - calls >= flaky["failures"]


def test_the_progress_bar_says_how_many_requests_a_server_made_it_repeat() -> None:
    with chat_server(lambda messages: "x", Trouble(limit=0.5)) as server:
        found = evaluate(ECHO, {"name": "openai", "model": "any", "base_url": server.url}, episodes=10, floors=False)
    bar = Progress()
    bar.add_task("")
    shown = SoFar(found).render(bar.tasks[0]).plain

    assert server.troubles["limit"] > 0
    assert f", {server.troubles['limit']} repeated" in shown


def test_an_id_of_which_every_episode_failed_has_its_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    options = ("--model", "policy_samples:parrot", "--model-arg", "fails_at=e", "--episodes", "3")
    last = gemx("eval", ECHO, SUM, *options).stdout.splitlines()[-1]

    assert last.split() == [SUM, "100.0%", "100.0%", "3", "3"]


def test_episodes_that_the_file_holds_are_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    options = [SUM, "--model", "policy_samples:parrot", "--out", str(tmp_path / "out")]
    whole = run(*options, "--episodes", "9")
    CALLS.clear()

    assert run(*options, "--episodes", "9") == {**whole, "resumed": 9}
    assert CALLS == []
    assert run(*options, "--episodes", "12")["resumed"] == 9
    assert len(list(read(path))) == 12
    assert "holds 12 of the 12 episodes" in gemx("eval", *options, "--episodes", "12").stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--model", "expert"], '(model: "policy_samples:parrot", not "expert")'),
        (["--model-arg", "word=x"], """not {"name": "policy_samples:parrot", "word": "x"})"""),
        (["--seed", "1"], "(seed: 0, not 1)"),
        (["--arg", "rounds=2"], '(arguments: {"max_turns": 2}, not {"max_turns": 2, "rounds": 2})'),
        (["--wrappers", "concat"], '(wrappers: [], not ["concat"])'),
    ],
)
def test_a_folder_holds_one_evaluation(change: list[str], message: str, tmp_path: Path) -> None:
    options = [SUM, "--model", "policy_samples:parrot", "--arg", "max_turns=2", "--episodes", "2", "--no-floors"]
    run(*options, "--out", tmp_path / "out")
    held = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    done = gemx("eval", *options, *change, "--out", tmp_path / "out")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "holds another evaluation" in done.stderr
    assert message in done.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == held


def test_a_folder_of_an_evaluation_that_ended_before_an_episode_takes_the_corrected_one(tmp_path: Path) -> None:
    with chat_server(lambda messages: "x") as server:
        gone = server.url
    options = [ECHO, "--episodes", "2", "--model-arg", "retries=0", "--no-floors", "--out", tmp_path / "out"]
    assert "there is no server" in gemx("eval", *options, "--base-url", gone, "--model", "openai:wrong").stderr
    with chat_server(lambda messages: "x") as server:
        done = gemx("eval", *options, "--base-url", server.url, "--model", "openai:right")
        assert (done.exit_code, server.answered) == (0, 2)
        done = gemx("eval", *options, "--base-url", server.url, "--model", "openai:wrong")
        assert "holds another evaluation" in done.stderr


def test_the_folder_of_a_training_run_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("")

    assert "A run of `gemx train` is resumed by its own command" in gemx("eval", "--resume", tmp_path).stderr


def test_a_folder_of_something_else_is_not_touched(tmp_path: Path) -> None:
    held = list(tmp_path.iterdir())
    done = gemx("eval", ECHO, "--out", tmp_path)

    assert f"{tmp_path} holds something else (never_imported.py): choose another --out" in done.stderr
    assert "does not hold an evaluation: it has no eval.json" in gemx("eval", "--resume", tmp_path).stderr
    assert list(tmp_path.iterdir()) == held


EMPTY = {"observation": "", "completion": {"text": ""}, "reward": 0.0}


@pytest.mark.parametrize(
    ("change", "resumed"),
    [
        ({"traces": [{"turns": []}]}, 2),
        ({"terminated": False}, 2),
        ({"traces": [{"policy": "random", "turns": [{**EMPTY, "info": {"tool_use_counter": "many"}}]}]}, 3),
    ],
)
def test_a_file_that_was_altered_resumes_with_the_episodes_that_are_whole(
    change: dict[str, Any], resumed: int, tmp_path: Path
) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    options = (ECHO, "--episodes", "3", "--out", tmp_path / "out")
    run(*options)
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), **change}), *others, ""]))

    again = run(*options)
    assert (again["episodes"], again["resumed"], again["calls_mean"]) == (3, resumed, None)


def test_several_ids_are_resumed_with_the_same_items(tmp_path: Path) -> None:
    options = [f"{ECHO},{SUM}", "--model", "expert", "--out", str(tmp_path / "out")]
    run(*options, "--episodes", "3")
    printed = run(*options, "--episodes", "8", "--k", "2")

    assert (printed["resumed"], [each["episodes"] for each in printed["ids"]]) == (6, [16, 16])
    played = [(record.id, record.seed, record.group) for record in read(tmp_path / "out")]
    assert len(set(played)) == len(played) == 32


def test_a_policy_that_breaks_leaves_the_report_so_far(tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    options = [
        ECHO,
        "--model",
        "policy_samples:Breaking",
        "--episodes",
        "9",
        "--num-envs",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    done = gemx("eval", *options, "--json")
    printed = json.loads(done.stdout)

    assert done.exit_code == 1
    assert (printed["episodes"], printed["asked"], printed["partial"]) == (3, 9, True)
    assert "returns a gem.Completion for each slot, not 'just text'" in printed["error"]
    assert f"gemx: {printed['error']}" in done.stderr
    assert len(list(read(path))) == 3
    assert "6 of 9: a partial report" in gemx("eval", *options).stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_ends_the_evaluation_with_the_report_of_what_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    write = Recorder.write

    def until_full(recorder: Recorder, episode: Episode, labels: Mapping[str, Any] | None = None) -> None:
        if len(list(read(path))) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(recorder, episode, labels)

    monkeypatch.setattr(Recorder, "write", until_full)
    done = gemx("eval", ECHO, "--episodes", "5", "--out", str(tmp_path / "out"), "--json")
    printed = json.loads(done.stdout)

    assert done.exit_code == 1
    assert (printed["episodes"], printed["error"]) == (2, f"{path}: No space left on device")
    assert done.stderr.endswith(f"gemx: {path}: No space left on device\n")


def test_ctrl_c_prints_the_report_so_far_and_the_same_command_plays_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    (tmp_path / "slow.py").write_text(
        "import time\ndef answer(observation):\n    time.sleep(0.02 if 'slow' in __file__ else 0)\n    return 'x'\n"
    )
    command = [sys.executable, "-m", "gem", "eval", ECHO, "--model", "slow:answer", "--episodes", "2000"]
    command += ["--num-envs", "4", "--out", str(tmp_path / "out"), "--json"]
    playing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    # More than there are envs: so the first items are among them.
    while (not path.exists() or path.read_bytes().count(b"\n") < 20) and time.monotonic() < deadline:
        time.sleep(0.02)
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=300)
    printed = json.loads(out)

    assert playing.returncode == 130
    assert "Traceback" not in err
    assert f"`gemx eval --resume {tmp_path / 'out'} --trust` plays what is missing." in err
    assert 0 < printed["episodes"] < 2000
    assert printed["partial"] is True
    assert len(list(read(path))) == printed["episodes"]
    some: Episode = next(read(path))
    assert some.policy == "slow:answer"
    command[command.index("2000")] = str(printed["episodes"])
    again = subprocess.run(command, capture_output=True, check=True, text=True, cwd=tmp_path)
    assert json.loads(again.stdout)["partial"] is False
    assert json.loads(again.stdout)["resumed"] > 0


def test_an_env_of_a_module_in_a_folder_is_evaluated_kept_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apkg").mkdir()
    (tmp_path / "apkg" / "coin.py").write_text("from gem.packs.echo import Echo\n\n\nclass Coin(Echo):\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    done = gemx("eval", "apkg.coin:Coin", "--episodes", "3", "--no-floors", "--out", "out", "--json")
    again = gemx("eval", "--resume", "out", "--trust", "--json")

    assert [each["id"] for each in json.loads(done.stdout)["ids"]] == ["apkg_coin:Coin"]
    assert (json.loads(again.stdout)["episodes"], json.loads(again.stdout)["partial"]) == (3, False)
