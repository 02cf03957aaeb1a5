"""SkyRL's launch file, as its page shows it, with the smallest sizes."""

import os
import re
import subprocess
import sys
from pathlib import Path

from samples import tiny_model, tokenizer

LAUNCH = Path(__file__).parents[2] / "examples" / "frameworks" / "skyrl_rollouts.py"


def test_the_launch_file_plays_and_shows_the_metrics_of_skyrl(tmp_path):
    tiny_model().save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    sizes = {"starts": 2, "group": 2, "max-new-tokens": 6, "max-context": 384, "max-turns": 4, "score": "success"}
    done = subprocess.run(
        [
            *(sys.executable, str(LAUNCH), str(tmp_path)),
            *("--env", "game:GuessTheNumber-v0-easy", "--env", "core:Echo-v0"),
            *(f"--{name}={value}" for name, value in sizes.items()),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shown = {name: float(value) for name, value in re.findall(r"^(\S+): (\S+)$", done.stdout, re.MULTILINE)}
    assert shown["environment/gem_failed"] == 0
    assert 0 <= shown["environment/success"] <= 1
