"""TRL's trainer in two processes: each plays its part of a group, and they learn as one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_a_group_that_two_processes_play_is_compared_as_one(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, str(HERE / "trl_process.py"), str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    seeds, returns = first["seeds"] + second["seeds"], first["returns"] + second["returns"]
    assert [seeds.count(seed) for seed in dict.fromkeys(seeds)] == [8, 8, 8]
    assert len(set(first["seeds"]) & set(second["seeds"])) == 1
    assert None in returns
    expected: list[float] = []
    for start in range(0, 24, 8):
        group = returns[start : start + 8]
        kept = [each for each in group if each is not None]
        expected += [0.0 if each is None else each - sum(kept) / len(kept) for each in group]
    assert first["advantages"] + second["advantages"] == pytest.approx(expected, abs=1e-6)
    assert first["failed"] == [pytest.approx(returns.count(None) / 24)]
    assert first["weights"] == second["weights"]
