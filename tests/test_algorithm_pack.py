"""An algorithm in a wheel of its own: one file, installed beside GEM, trains by its name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scratch import PIP, build_wheels

PACK = Path(__file__).parent.parent / "examples" / "grpo-pack"
RUN = [
    "steps=3",
    "rollout.episodes=16",
    "rollout.num_envs=16",
    "rollout.group_size=4",
    "rollout.max_new_tokens=8",
    "warmup.steps=20",
    "eval.episodes=8",
    "watch.stop=false",
]


def gemx(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`gemx` with what is installed in one more folder."""
    command = [sys.executable, "-m", "gem", *words]
    return subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=site,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_algorithm_of_the_example_is_one_file_of_at_most_60_lines() -> None:
    [module] = PACK.glob("*.py")
    assert len(module.read_text("utf-8").splitlines()) <= 60


@pytest.mark.full
def test_an_algorithm_in_a_wheel_of_its_own_trains_by_its_name_with_its_own_setting(tmp_path: Path) -> None:
    site = tmp_path / "site"
    [wheel] = build_wheels([PACK], tmp_path)
    subprocess.run([*PIP, "install", "--no-index", "--no-deps", "--target", str(site), str(wheel)], check=True)

    train = ["train", "core:Echo-v0", "--algorithm", "grpo-median", "--out", str(tmp_path / "run"), "--json"]
    settings = [word for setting in [*RUN, "credit.center=mean"] for word in ("--set", setting)]
    done = gemx(site, *train, *settings)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["algorithm"] == "grpo-median"
    assert 'center = "mean"' in (tmp_path / "run" / "config.toml").read_text("utf-8")
    steps = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert any(line.get("signal") for line in steps)

    for wrong, message in {
        "credit.center=middle": "credit.center = 'middle'",
        "credit.centre=mean": "Did you mean 'credit.center'",
        "rollout.group_size=1": "set rollout.group_size to at least 2",
    }.items():
        refused = gemx(site, *train[:4], "--set", wrong)
        assert (refused.returncode, message in refused.stderr) == (1, True), refused.stderr
    assert "Did you mean 'grpo-median'" in gemx(site, *train[:3], "grpo-medain").stderr
    assert "no installed pack has an algorithm 'grpo-median'" in gemx(tmp_path, *train[:4]).stderr
