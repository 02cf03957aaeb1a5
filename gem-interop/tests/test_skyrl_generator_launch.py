"""SkyRL's launch file, as its page shows it, with the smallest sizes."""

import re

from samples import launched


def test_the_launch_file_plays_and_shows_the_metrics_of_skyrl(tmp_path):
    sizes = {"starts": 2, "group": 2, "max_new_tokens": 6, "max_context": 384, "max_turns": 4, "score": "success"}
    said = launched("skyrl_rollouts.py", tmp_path, **sizes)
    shown = {name: float(value) for name, value in re.findall(r"^(\S+): (\S+)$", said, re.MULTILINE)}
    assert shown["environment/gem_failed"] == 0
    assert 0 <= shown["environment/success"] <= 1
