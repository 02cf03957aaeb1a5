"""Whole runs in this process, as small as possible: output, files, refusals."""

import json
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from gem import seeding
from gem.cli.main import main
from gem.cli.output import console
from gem.episode import Completion, Episode, Trace, Turn
from gem.errors import ConfigError, TrainingStopped, UnknownId
from gem.packs.lookup import find_named
from gem.record import read
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.vector import make_vec
from gem_eval.results import Result
from gem_train.build import make_evaluation
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config
from gem_train.engines.hf import HFSampler
from gem_train.evaluation import choose_teacher
from gem_train.preflight import check
from gem_train.runs.display import Display, _episode
from gem_train.runs.summary import Summary
from gem_train.train import train

SMALL = {
    "steps": 2,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 8},
    "warmup": {"steps": 2, "episodes": 4},
    "eval": {"episodes": 8},
    "checkpoint_every": 1,
    "watch": {"stop": False},
}
UNREWARDED = '''
from gem import Step
from gem.dataset_env import QuestionEnv

class Unrewarded(QuestionEnv[str]):
    """Every reply has reward 0."""

    def _reset(self, options):
        return f"Question {self.rng.randrange(100)}"

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        return Step.final("So be it.", 0.0, success=False)

    def sample_action(self):
        return "yes"
'''


def run(out: Path, *settings: dict) -> Summary:
    config = load_config([{"id": "core:Echo-v0"}, SMALL, *settings])
    with Display(quiet=True) as display:
        return train(config, out, display)


def episode(text: str = "", *, success: bool = False) -> Episode:
    turns = (Turn(text, Completion(text), 0.0, {}),)
    return Episode(
        id="core:Echo-v0",
        seed=0,
        traces=(Trace(turns),),
        observation=text,
        terminated=True,
        truncated=False,
        success=success,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "echo"
    run(out)
    return out


def test_a_run_without_rewards_stops_and_says_what_to_change(tmp_path, monkeypatch, capsys):
    (tmp_path / "unrewarded.py").write_text(UNREWARDED)
    monkeypatch.syspath_prepend(tmp_path)
    settings = {"id": "unrewarded:Unrewarded", "steps": 50, "watch": {"window": 3, "stop": True}}
    with pytest.raises(TrainingStopped, match=r"stopped at step 3: no signal.*Give the model a start that sometimes"):
        run(tmp_path / "run", settings)
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2 + 1 + 3
    assert (tmp_path / "run" / "curve.png").stat().st_size > 0
    assert run(tmp_path / "on", settings, {"steps": 4, "watch": {"stop": False}}).steps == 4
    assert "step 3: no signal" in capsys.readouterr().err


@pytest.mark.parametrize("where", [".", "checkpoint/step-2", "checkpoint/step-2/model"])
def test_a_run_or_a_checkpoint_is_a_policy_that_plays_as_it_was_trained(finished, where):
    config = load_config([read_toml(finished / "config.toml")])
    policy = find_named("policy", "checkpoint")(
        path=str(finished / where), seed=seeding.derive(0, "sampling", "evaluation")
    )
    assert (policy.max_new_tokens, policy.temperature) == (8, 1.0)
    with make_vec("core:Echo-v0", 8) as envs:
        episodes = list(rollout(policy, envs, make_evaluation(config, config.evaluated).seeds()))
    recorded = [record for record in read(finished / "episodes.jsonl") if record.labels["phase"] == "evaluation"]
    after = {record.seed: record.turns[0].action for record in recorded}
    assert {episode.seed: episode.turns[0].action for episode in episodes} == after
    summary = json.loads((finished / "summary.json").read_text())
    assert Result.of(episodes).success == summary["after"]["success"]


def test_the_episodes_of_a_run_are_a_recording(finished):
    labels = [record.labels for record in read(finished / "episodes.jsonl")]
    assert (
        labels
        == [{"phase": "train", "step": 1}] * 4
        + [{"phase": "train", "step": 2}] * 4
        + [{"phase": "evaluation", "step": 2}] * 8
    )


def test_one_episode_of_each_step_and_of_the_last_evaluation_is_recorded_with_its_tokens(finished):
    replies = [
        (record.labels["phase"], turn)
        for record in read(finished / "episodes.jsonl")
        for turn in record.turns
        if turn.completion.tokens is not None
    ]

    assert [phase for phase, _ in replies] == ["train", "train", "evaluation"]
    for _, turn in replies:
        assert "".join(turn.completion.tokens.text).removesuffix("<|end|>") == turn.action
        assert len(turn.completion.tokens.logprobs) == len(turn.completion.tokens.text) <= 8
        assert max(turn.completion.tokens.logprobs) <= 0
        assert turn.observation in turn.completion.tokens.prompt


def test_the_result_of_a_run_is_on_standard_output_episodes_included(finished):
    command = ["train", "core:Echo-v0", "--config", str(finished / "config.toml"), "--out", str(finished)]
    done = CliRunner().invoke(main, command)
    assert done.stdout.count("--- Episode ") == done.stdout.count("success, return ") == 3
    assert done.stderr == "this run has finished already; its result:\n"


def test_the_folder_of_a_run_is_a_policy_by_its_path(finished, capsys):
    policy = make_policy({"name": str(finished), "temperature": 0.5})

    assert isinstance(policy, HFSampler)
    assert (policy.max_new_tokens, policy.temperature) == (8, 0.5)
    assert capsys.readouterr() == ("", "")


def test_a_template_that_changes_every_reply_is_a_warning_with_its_cost(finished, tmp_path, capsys):
    model = shutil.copytree(finished / "checkpoint" / "step-2" / "model", tmp_path / "model")
    template = model / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|end|>{% endfor", "{{ loop.length }}<|end|>{% endfor"))
    run(tmp_path / "run", {"model": str(model), "warmup": {"steps": 0}, "steps": 1})
    assert capsys.readouterr().err.count(" times as many ids to read and to train on as with rollout.history") == 1


def test_several_ids_are_trained_on_in_equal_shares_and_each_is_evaluated(tmp_path):
    summary = run(tmp_path / "run", {"id": "core:Echo-v0, gem.packs.echo:Echo"})

    assert [(each.id, each.episodes) for each in summary.ids] == [("core:Echo-v0", 4), ("gem_packs_echo:Echo", 4)]
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert {"success/core:Echo-v0", "success/gem_packs_echo:Echo"} <= lines[-1].keys()
    with pytest.raises(UnknownId, match="Did you mean 'core:Echo-v0'"):
        run(tmp_path / "no", {"id": "core:Echo-v0,core:Ecko-v0"})


@pytest.mark.full
def test_the_environments_of_a_mix_have_their_shares_and_their_own_arguments_and_wrappers(tmp_path):
    tables = [
        {
            "id": "play_envs:Walk",
            "weight": 3,
            "env": {"longest": 2},
            "wrappers": [{"name": "turn_limit", "max_turns": 1}],
        },
        {"id": "play_envs:Long", "env": {"longest": 2}},
    ]
    settings = {"mix": tables, "wrappers": "episode_tracking", "rollout": {"group_size": 2, "record": 8}, "steps": 4}
    config = load_config([SMALL, settings])
    check(config, tmp_path)
    with Display(quiet=True) as display:
        summary = train(config, tmp_path / "run", display)
    records = [each for each in read(tmp_path / "run" / "episodes.jsonl") if each.labels["phase"] == "train"]

    assert summary.id == "play_envs:Walk,play_envs:Long"
    assert [(each.id, each.episodes) for each in summary.ids] == [("play_envs:Long", 2), ("play_envs:Walk", 6)]
    assert Counter(record.id for record in records) == {"play_envs:Walk": 24, "play_envs:Long": 8}
    limit = {"name": "turn_limit", "max_turns": 1}
    assert {record.id: record.spec.wrappers for record in records} == {
        "play_envs:Walk": (limit, "episode_tracking"),
        "play_envs:Long": ("episode_tracking",),
    }
    assert max(len(record.turns) for record in records if record.id == "play_envs:Walk") == 1
    groups = Counter((record.labels["step"], record.id, record.seed) for record in records)
    assert set(groups.values()) == {2}, "groups are not split"
    with pytest.raises(UnknownId, match="Did you mean 'turn_limit'"):
        check(load_config([SMALL, {"mix": [{"id": "play_envs:Walk", "wrappers": "turn_limits"}]}]), tmp_path)
    assert load_config([read_toml(tmp_path / "run" / "config.toml")]) == config


def test_a_checkpoint_policy_takes_the_best_and_other_settings_and_refuses_other_folders(finished, tmp_path):
    best = str(finished / "checkpoint" / "best")
    policy = find_named("policy", "checkpoint")(path=best, temperature=0.5, max_new_tokens=3)
    assert (policy.max_new_tokens, policy.temperature) == (3, 0.5)
    with pytest.raises(ConfigError, match="there is no model at"):
        find_named("policy", "checkpoint")(path=str(tmp_path))
    with pytest.raises(ConfigError, match="temperature"):
        find_named("policy", "checkpoint")(path=str(finished), temperature=-1.0)


@pytest.mark.parametrize("keep", [1, pytest.param(3, marks=pytest.mark.full)])
def test_the_best_checkpoint_is_kept_beside_the_newest(tmp_path, keep):
    run(tmp_path / "run", {"steps": 6, "keep_checkpoints": keep})
    folder = tmp_path / "run" / "checkpoint"
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    scores = {line["step"]: (line["success"], line["return"]) for line in lines if line["phase"] == "train"}
    best = max(scores, key=lambda step: (scores[step], step))
    assert json.loads((folder / "best.json").read_text())["step"] == best
    assert (folder / "best").resolve() == (folder / f"step-{best}").resolve()
    newest = range(7 - keep, 7)
    assert {path.name for path in folder.glob("step-*")} == {f"step-{step}" for step in (best, *newest)}


def test_a_full_disk_costs_only_the_steps_since_the_last_checkpoint(tmp_path):
    """A limit on the size of a file takes the place of the disk: the model cannot be written, metrics can."""
    out = tmp_path / "run"
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, usual[1]))
    try:
        with pytest.raises(TrainingStopped, match=r"cannot write the run folder .*run: .*starts from the beginning"):
            run(out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list((out / "checkpoint").iterdir()) == []
    assert run(out).steps == 2


@pytest.mark.full
def test_the_warm_up_may_imitate_an_earlier_run(finished, tmp_path):
    assert run(tmp_path / "run", {"warmup": {"policy": str(finished)}}).warmup_policy == str(finished)
    with pytest.raises(ConfigError, match="needs a path"):
        check(load_config([{"id": "core:Echo-v0", "warmup": {"policy": "checkpoint"}}]), tmp_path / "no")


def test_the_expert_is_imitated_if_random_play_rarely_succeeds():
    def succeeding(share: int) -> Result:
        return Result.of([episode(success=i < share) for i in range(100)])

    rarely, often, always = succeeding(19), succeeding(21), succeeding(100)
    assert choose_teacher("auto", rarely, always) == "expert"
    assert choose_teacher("auto", often, always) == "random"
    assert choose_teacher("auto", rarely, None) == "random"
    assert choose_teacher("other", rarely, None) == "other"


WRONG = {
    "core:Ecko-v0": "Did you mean 'core:Echo-v0'",
    "core:Echo-v0 --set wrappers=nope": "wrapper 'nope'",
    "core:Echo-v0 --set env.wrod=3": "takes no argument 'wrod'",
    "core:Echo-v0 --set warmup.policy=expret": "Did you mean 'expert'",
    "core:Echo-v0 --algorithm rebm": "Did you mean 'rebn'",
    "core:Echo-v0 --model ./missing": "there is no model at './missing'",
    "core:Echo-v0 --model .": "there is no config.json in it",
    "core:Echo-v0 --set rollout.group_size=3": "must be a multiple of rollout.group_size (3)",
    "core:Echo-v0 --config binary.toml": "binary.toml is not TOML: it is not UTF-8 text",
    "core:Echo-v0 --config deep.toml": "nested too deeply",
    "core:Echo-v0 --set rollout.engine=vllm": "needs vllm, which is not installed",
    "core:Echo-v0 --set rollout.engine=vlm": "Did you mean 'vllm'",
    "core:Echo-v0 --out binary.toml/run": "is not a folder; choose another --out",
    "core:Echo-v0 --out /proc/run": "cannot write the run folder /proc/run",
}


def test_a_wrong_command_is_one_line_before_anything_is_built(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\x7fELF\xff\xfe")
    (tmp_path / "deep.toml").write_text(f"a = {'[' * 5000}{']' * 5000}")
    program = (
        "import sys, json\nfrom gem.cli.main import main\n"
        "sys.modules['vllm'] = None\n"  # as where it is not installed
        "for words in json.loads(sys.argv[1]):\n"
        "    try:\n        main(['train', *words.split()])\n"
        "    except SystemExit as end:\n        print(end.code, file=sys.stderr)\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", program, json.dumps(list(WRONG))]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    lines = done.stderr.splitlines()
    assert done.stdout.strip() == "[]"
    assert lines[1::2] == ["1"] * len(WRONG)
    for line, (command, expected) in zip(lines[::2], WRONG.items(), strict=True):
        assert expected in line, command
    assert {path.name for path in tmp_path.iterdir()} == {"binary.toml", "deep.toml"}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_live_display_keeps_bar_step_and_time_at_every_width(width):
    display = Display()
    metrics = {"success": 0.5, "return": -0.123, "turns": 12.3, "malformed": 0.5, "failures": 3, "entropy": 6.1}
    for step in (1, 99_999):
        display.stepped(step, 100_000, {**metrics, "kl": 0.01234, "signal": 0.0})
    screen = StringIO()
    Console(file=screen, width=width, force_terminal=True, color_system=None).print(display.view)
    bar, status = screen.getvalue().splitlines()
    assert len(bar) <= width
    assert len(status) <= width
    assert "99999/100000" in bar
    assert "0:00:0" in bar
    assert "left" in bar
    assert "━" in bar
    assert status.startswith("no signal  success 0.50")


def test_the_final_table_has_the_success_on_each_id(finished, tmp_path, capsys):
    ids = ["game:GuessTheNumber-v0-easy", "math:Arithmetic-v0-easy"]
    out = shutil.copytree(finished, tmp_path / "run")
    summary = json.loads((out / "summary.json").read_text())
    report = replace(Result.of([episode()]), success=0.5, success_ci=(0.4, 0.6))
    summary |= {"id": ",".join(ids), "ids": [replace(report, id=each).as_json() for each in ids]}
    (out / "summary.json").write_text(json.dumps(summary))
    config = load_config([{"id": "core:Echo-v0"}, SMALL])
    with Display() as display:
        train(config, out, display)
    printed = capsys.readouterr().out
    assert f"\n{','.join(ids)}, rebn, seed 0\n" in printed
    for each in ids:
        assert re.search(rf"  {each} +│ +0\.500 \[0\.400, 0\.600\]", printed)


def test_an_unusable_device_is_refused_before_anything_is_played(tmp_path, capsys):
    with pytest.raises(ConfigError, match=r"cannot use the device 'abacus' with PyTorch .*gem-train's README says how"):
        run(tmp_path / "run", {"device": "abacus"})
    assert "random play" not in capsys.readouterr().err


def test_an_episode_is_printed_without_control_characters(capsys):
    hostile = "seen\x1b]52;c;aGk=\x07\x1b[2J\u202e"
    console().print(_episode(episode(hostile)))
    printed = capsys.readouterr().out
    assert printed.count("seen\\x1b]52;c;aGk=") == 3
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
