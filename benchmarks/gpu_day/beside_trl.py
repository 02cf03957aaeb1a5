"""A step of GRPO, ours and TRL's, both sampling with transformers: the task of `grpo_step.py`."""

import json
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median

from gpu_day.place import Case, Row
from peers import FOLDER, PEERS, ask

_PROGRAM = str(Path(__file__).parents[1] / "grpo_step.py")


def python_with_trl():
    """An interpreter that has TRL, if there is one without downloading it."""
    own = FOLDER / PEERS["trl"] / "bin" / "python"
    return sys.executable if find_spec("trl") else str(own) if own.exists() else None


def steps(place):
    """Seconds of a step on each side."""
    case = json.dumps({"model": str(place.model("0.6B")), "steps": place.of(8, 4), "device": str(place.device)})
    sides = {"ours": ("sides.trl_ours", sys.executable), "TRL": ("sides.trl_grpo", python_with_trl())}
    for name, (module, python) in sides.items():
        if python is None:
            yield Row(f"step, {name}", f"not here: pip install {PEERS['trl']}")
            continue
        ends = [wall for wall, _ in json.loads(ask(python, _PROGRAM, "--play", module, case))["ends"]]
        taken = [later - earlier for earlier, later in pairwise(ends)]
        yield Row(f"step, {name}", median(taken[2:]), "s")


CASES = {"a step of GRPO": Case(steps, 300)}
