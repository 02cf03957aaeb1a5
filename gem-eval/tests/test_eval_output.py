"""`gemx eval`: what it prints, and what it exits with."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import gem
from gem import seeding
from gem.cli.main import main
from gem.record import read

pytestmark = pytest.mark.usefixtures("core_only")

SAMPLES = Path(__file__).parents[2] / "gem-core" / "tests"


def gemx(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def gemx_json(*arguments: str) -> dict[str, Any]:
    """What a fresh process prints on standard output, which has to be one JSON object and nothing else."""
    clean = {name: value for name, value in os.environ.items() if name != "GEM_DEBUG"}
    command = [sys.executable, "-m", "gem", *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, cwd=SAMPLES, env=clean).stdout)


def test_eval_as_json_has_exactly_the_promised_fields() -> None:
    expert = gemx_json("eval", "sample_envs:Sum", "--model", "expert", "--episodes", "8", "--seed", "3")

    fields = [
        ("id", "sample_envs:Sum"),
        ("group", ""),
        ("episodes", 8),
        ("items", 8),
        ("failures", 0),
        ("culprits", {}),
        ("success", 1.0),
        ("success_ci", [pytest.approx(0.6756, abs=1e-4), 1.0]),
        ("k", 1),
        ("complete", 8),
        ("pass_at", {"1": 1.0}),
        ("pass_at_ci", [pytest.approx(0.6756, abs=1e-4), 1.0]),
        ("pass_hat", {"1": 1.0}),
        ("pass_hat_ci", [pytest.approx(0.6756, abs=1e-4), 1.0]),
        ("return_mean", 3.0),
        ("return_ci", [None, None]),
        ("parts", {}),
        ("turns_mean", 3.0),
        ("calls_mean", None),
        ("refused_mean", None),
        ("cut_off", 0),
        ("prompt_tokens", 0),
        ("completion_tokens", 0),
        ("cost", None),
        ("latency_median", None),
        ("latency_p95", None),
        ("floors", {}),
    ]
    assert list(expert.items()) == [
        ("model", "expert"),
        ("seed", 3),
        ("asked", 8),
        ("partial", False),
        ("budget_spent", False),
        *fields,
        ("ids", [dict(fields)]),
        ("resumed", 0),
    ]


def test_eval_gives_the_same_numbers_however_many_envs_play() -> None:
    one, many = (
        gemx("eval", "core:Echo-v0", "--episodes", "40", "--num-envs", number, "--json").stdout for number in ("1", "7")
    )

    assert one == many
    assert 0 < json.loads(one)["success"] < 1


def test_eval_plays_the_episodes_of_the_derived_seeds() -> None:
    won = 0
    for i in range(30):
        env = gem.make("core:Echo-v0")
        env.reset(seed=seeding.derive(5, "run", i))
        won += env.step(env.sample_action()).info["success"]

    played = json.loads(gemx("eval", "core:Echo-v0", "--episodes", "30", "--seed", "5", "--json").stdout)
    assert played["success"] == pytest.approx(won / 30)


def test_eval_hands_every_argument_to_the_env_whatever_it_is_called() -> None:
    done = gemx("eval", "vector_envs:Shadowing", "--episodes", "1", "--arg", "seed=3", "--arg", "backend=x", "--json")

    assert json.loads(done.stdout)["return_mean"] == 3.0


def test_eval_puts_the_named_wrappers_around_every_env() -> None:
    played = ("eval", "tool_samples:Listener", "--model", "expert", "--episodes", "3")

    assert gemx_json(*played)["turns_mean"] == 3.0
    assert gemx_json(*played, "--wrappers", "episode_tracking,tool_samples:impatient")["turns_mean"] == 2.0


def test_eval_puts_tools_around_every_env_inside_the_wrappers(tmp_path: Path) -> None:
    path = str(tmp_path / "out" / "episodes.jsonl")
    options = ["--tools", "tool_samples:python,tool_samples:search", "--tool-arg", "max_calls=3"]
    played = gemx(
        "eval", "sample_envs:Sum", *options, "--wrappers", "concat", "--episodes", "1", "--out", tmp_path / "out"
    )

    assert played.exit_code == 0
    (record,) = read(Path(path))
    tools = {"name": "tool_env", "tools": ["tool_samples:python", "tool_samples:search"], "max_calls": 3}
    assert record.spec is not None
    assert record.spec.wrappers == (tools, "concat")
    refused = gemx("reproduce", path)
    assert refused.exit_code == 1
    assert "--trust" in refused.stderr
    assert gemx("reproduce", path, "--trust").exit_code == 0


def test_eval_counts_tool_calls_where_there_are_tools() -> None:
    options = ["--tools", "tool_samples:python", "--model", "tool_samples:Caller", "--episodes", "3"]

    assert "mean tool calls  2.00, and 1.00 refused" in gemx("eval", "sample_envs:Sum", *options).stdout
    assert "mean tool calls" not in gemx("eval", "sample_envs:Sum").stdout


def test_eval_prints_a_table_with_the_interval() -> None:
    done = gemx("eval", "sample_envs:Sum", "--model", "expert", "--episodes", "4", "--arg", "rounds=2")

    assert "100.0%, 95% interval 51.0% to 100.0%" in done.stdout
    assert "2.000" in done.stdout


def test_eval_counts_failures_and_shows_each_once_with_its_place() -> None:
    done = gemx("eval", "sample_envs:Fragile", "--model", "expert", "--episodes", "12")
    played = json.loads(gemx("eval", "sample_envs:Fragile", "--model", "expert", "--episodes", "12", "--json").stdout)

    assert done.exit_code == 0
    assert 0 < played["failures"] < 12
    assert played["success"] == 1.0
    assert f"{played['failures']} failed, such as seed " in done.stderr
    assert "OSError: the disk is full" in done.stderr
    assert 'sample_envs.py", line' in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_eval_exits_with_1_when_every_episode_failed() -> None:
    odd = next(seed for seed in range(99) if seeding.derive(seed, "run", 0) % 2)
    done = gemx("eval", "sample_envs:Fragile", "--episodes", "1", "--seed", str(odd), "--json")

    assert done.exit_code == 1
    assert json.loads(done.stdout)["success"] is None
