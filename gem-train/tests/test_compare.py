"""Runs are compared in groups of seeds, with intervals, in a picture and a table."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from click.testing import CliRunner

from gem.cli.main import main
from gem.errors import ConfigError
from gem_eval.results.intervals import _T975
from gem_train.config.training import load_config
from gem_train.runs.compare import grouped, mean_and_half_width, read_run


def make_run(folder: Path, steps: int = 20, *, finished: bool = False, level: float = 0.5, **settings: object) -> Path:
    """A run folder as a run leaves it; success rises from 0 to `level`."""
    config = load_config([{"id": "core:Echo-v0", "steps": 20}, settings])
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(tomli_w.dumps(config.as_data()))
    noise = np.random.default_rng(config.seed).normal(0, 0.03, 1000)
    rise = [level * min(1, step / 15) + float(noise[step]) for step in range(steps + 1)]
    lines = [{"phase": "eval", "step": 0, "success": 0.0, "success_low": 0.0, "success_high": 0.1, "return": 0.0}]
    lines += [
        {"phase": "train", "step": step, "success": rise[step], "entropy": None if step == 3 else 1.0}
        for step in range(1, steps + 1)
    ]
    if finished:
        ends = {"success_low": rise[-1] - 0.05, "success_high": rise[-1] + 0.05}
        lines.append({"phase": "eval", "step": steps, "success": rise[-1], **ends})
        (folder / "summary.json").write_text("{}")
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def plot(*words: object) -> dict:
    done = CliRunner().invoke(main, ["plot", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 30, 31, 100])
def test_the_interval_is_that_of_students_t(freedom):
    values = [0.0] * freedom + [float(freedom + 1)]
    mean, half = mean_and_half_width(values)
    assert mean == pytest.approx(1.0)
    t = half / (np.std(values, ddof=1) / math.sqrt(freedom + 1))
    # The integral of the density from 0 to t, by a substitution that ends the tail at 1.
    grid = (np.arange(200_000) + 0.5) / 200_000 * math.atan(t / math.sqrt(freedom))
    norm = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    inside = norm * np.mean(np.cos(grid) ** (freedom - 1)) * math.atan(t / math.sqrt(freedom))
    assert 0.5 + inside == pytest.approx(0.975, abs=2e-5)
    assert list(_T975) == sorted(_T975, reverse=True)


def test_runs_that_differ_in_seed_and_in_how_they_were_computed_are_one_group(tmp_path):
    runs = [
        make_run(tmp_path / "a", seed=0),
        make_run(tmp_path / "b", seed=1, steps=20, checkpoint_every=3),
        make_run(tmp_path / "c", seed=0, algorithm="reinforce"),
        make_run(tmp_path / "d", seed=1, algorithm="reinforce", credit={"gamma": 0.5}),
    ]
    groups = grouped([read_run(run) for run in runs])
    assert [[run.path.name for run in group.runs] for group in groups] == [["a", "b"], ["c"], ["d"]]
    assert [group.label for group in groups] == [
        "rebn, credit.gamma=1",
        "reinforce, credit.gamma=1",
        "reinforce, credit.gamma=0.5",
    ]
    assert [group.label for group in grouped([read_run(run) for run in runs[:3]])] == ["rebn", "reinforce"]
    assert [group.label for group in grouped([read_run(runs[0])])] == ["core:Echo-v0, rebn"]
    limited = make_run(tmp_path / "e", env={"max_turns": 3})
    labels = [group.label for group in grouped([read_run(run) for run in (runs[0], limited)])]
    assert labels == ["env.max_turns=default", "env.max_turns=3"]


def test_the_table_has_means_and_intervals_over_seeds_as_by_hand(tmp_path):
    levels = [0.4, 0.6, 0.8]
    runs = [make_run(tmp_path / f"{i}", seed=i, level=each, finished=True) for i, each in enumerate(levels)]
    found = plot(*runs, "--out", tmp_path / "a.svg", "--window", 5)
    [row] = found["groups"]
    read = [[json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()] for run in runs]
    ends = [np.mean([line["success"] for line in each if line["phase"] == "train"][-5:]) for each in read]
    half = 4.3027 * np.std(ends, ddof=1) / math.sqrt(3)
    assert row["training"]["mean"] == pytest.approx(np.mean(ends))
    assert row["training"]["low"] == pytest.approx(np.mean(ends) - half)
    assert row["after"]["mean"] == pytest.approx(np.mean([each[-1]["success"] for each in read]))
    assert row["before"] == {"step": 0, "mean": 0.0, "low": 0.0, "high": 0.0}
    assert (row["seeds"], row["steps"]) == ([0, 1, 2], 20)
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_a_group_ends_with_its_shortest_run_unless_that_was_solved(tmp_path):
    whole, killed = make_run(tmp_path / "whole", seed=0), make_run(tmp_path / "killed", seed=1, steps=7)
    [row] = plot(whole, killed, "--out", tmp_path / "a.png")["groups"]
    assert row["steps"] == 7
    solved = make_run(tmp_path / "solved", seed=2, steps=12, finished=True)
    [row] = plot(whole, solved, "--out", tmp_path / "a.png")["groups"]
    assert row["steps"] == 20
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_single_run_has_the_intervals_of_its_evaluations_and_gaps_where_nothing_was_measured(tmp_path):
    run = make_run(tmp_path / "run", finished=True)
    [row] = plot(run, "--out", tmp_path / "a.png")["groups"]
    assert row["training"]["low"] is None
    assert row["before"]["high"] == 0.1
    [row] = plot(run, "--metric", "entropy", "--out", tmp_path / "a.png")["groups"]
    assert (row["before"], row["steps"]) == (None, 20)


@pytest.mark.parametrize("groups", [1, 8, 20])
def test_any_number_of_runs_is_drawn_and_printed(tmp_path, groups, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for gamma in range(groups):
        for seed in range(1 + gamma % 3):
            make_run(tmp_path / f"{gamma}-{seed}", seed=seed, credit={"gamma": gamma / 20}, level=gamma / 20)
    done = CliRunner().invoke(main, ["plot", *sorted(map(str, tmp_path.glob("*-*")))])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("credit.gamma=") == (groups if groups > 1 else 0)
    assert done.stdout.endswith("picture  success.png\n")
    assert (tmp_path / "success.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere is not the folder of a run"),
        (["empty"], "has made no training step yet"),
        (["run", "--metric", "sucess"], "no metric 'sucess'. Did you mean 'success'"),
        (["run", "--out", "a.txt"], "a picture is a .png, .svg or .pdf"),
        (["run", "--out", "no/a.png"], "cannot write no/a.png: No such file"),
        (["broken"], "cannot read broken/metrics.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_one_line(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "run")
    make_run(tmp_path / "empty", steps=0)
    (make_run(tmp_path / "broken") / "metrics.jsonl").write_text("not JSON\n")
    done = CliRunner().invoke(main, ["plot", *words])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.toml", "steps = 10000000\nseed = 0\n", "steps in .* must be an integer from 1 to 300000"),
        ("config.toml", "", "seed in .* must be an integer"),
        ("metrics.jsonl", "null\n", "cannot read .*: a line is not an object"),
        ("metrics.jsonl", "[" * 100_000 + "\n", "cannot read .*: maximum recursion"),
        ("metrics.jsonl", "\xff\x00\n", "cannot read .*: 'utf-8' codec"),
    ],
)
def test_a_run_of_somebody_else_costs_no_memory_and_names_its_fault(name, content, message, tmp_path):
    (tmp_path / "config.toml").write_text("steps = 2\nseed = 0\n")
    (tmp_path / "metrics.jsonl").write_text('{"phase": "train", "step": 1, "success": 1}\n')
    (tmp_path / name).write_text(content, encoding="latin-1")
    with pytest.raises(ConfigError, match=message):
        read_run(tmp_path)


def test_metrics_that_are_a_device_are_not_read(tmp_path):
    (tmp_path / "config.toml").write_text("steps = 2\nseed = 0\n")
    (tmp_path / "metrics.jsonl").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="has made no training step yet"):
        read_run(tmp_path)


def test_names_in_a_picture_are_text_and_no_link_is_written_through(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "one", id="\x1b[31m$^{")
    make_run(tmp_path / "two", id="game:Two")
    target = tmp_path / "target"
    target.write_text("old")
    (tmp_path / "success.png").symlink_to(target)
    plot("one", "two")
    assert target.read_text() == "old"
    assert (tmp_path / "success.png").read_bytes().startswith(b"\x89PNG")
