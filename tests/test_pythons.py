"""The same seed gives the same bytes in every process, with any hash seed, in every version of Python on this machine.

`make pythons` sets up the other versions, and CI runs it; without them, this Python plays twice.
"""

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from play_digest import SPECS

ROOT = Path(__file__).parents[1]
PROGRAM = Path(__file__).with_name("play_digest.py")
OTHERS = sorted(map(str, ROOT.glob(".venv/pythons/*/bin/python")))
SEEDS = "25"


@pytest.mark.full
def test_the_same_seeds_give_the_same_bytes_in_every_process_and_every_version_of_python() -> None:
    processes = {
        f"{python}, PYTHONHASHSEED={hash_seed}": subprocess.Popen(
            [python, str(PROGRAM), SEEDS],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed, python in zip(count(1), [sys.executable, *(OTHERS or [sys.executable])], strict=False)
    }
    found = {name: json.loads(process.communicate()[0]) for name, process in processes.items()}

    first, *rest = found.values()
    assert len(first) == 2 * len(SPECS)
    for name, digests in list(found.items())[1:]:
        assert [id for id in first if digests[id] != first[id]] == [], name
    assert rest
