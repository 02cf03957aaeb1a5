"""Success before and after training with the demo's configuration, over several seeds.

    python benchmarks/demo.py [--seeds 5] [--folder DIR] [--json]

Each seed is a whole `gemx train`, in a process of its own, as `make demo` runs it. With `--folder` the runs are kept
there: one that has finished is not repeated, and one that was stopped resumes.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gem_train.runs.compare import mean_and_half_width

ID = "game:GuessTheNumber-v0-easy"
CONFIG = Path(__file__).parent.parent / "examples" / "demo.toml"


def train(seed: int, out: Path) -> dict[str, Any]:
    """The summary of one run."""
    command = [sys.executable, "-m", "gem", "train", ID, "--config", str(CONFIG), "--seed", str(seed)]
    done = subprocess.run([*command, "--out", str(out), "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def successes(summary: dict[str, Any]) -> tuple[float, float, float, float]:
    """The success of random play, of the expert, and of the model before and after training."""
    before, floors = summary["before"], summary["before"]["floors"]
    return floors["random"]["success"], floors["expert"]["success"], before["success"], summary["after"]["success"]


def report(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of all seeds together."""
    random, expert, before, after = (list(each) for each in zip(*map(successes, summaries), strict=True))
    return {
        "id": ID,
        "seeds": [summary["seed"] for summary in summaries],
        "random": random,
        "expert": expert,
        "before": before,
        "after": after,
        "after_mean": statistics.fmean(after),
        "after_half_interval": mean_and_half_width(after)[1] if len(after) > 1 else None,
        "seconds": [summary["seconds"] for summary in summaries],
    }


def table(summaries: list[dict[str, Any]]) -> str:
    """The same as GitHub Markdown; after ± is half of the 95% interval of the mean, by Student's t."""
    lines = ["| seed | random | expert | before | after [95% interval] | seconds |", "|---|---|---|---|---|---|"]
    for summary in summaries:
        low, high = summary["after"]["success_ci"]
        rates = " | ".join(f"{rate:.2f}" for rate in successes(summary))
        lines.append(f"| {summary['seed']} | {rates} [{low:.2f}, {high:.2f}] | {summary['seconds']:.0f} |")
    _, _, before, after = zip(*map(successes, summaries), strict=True)
    mean = f"{statistics.fmean(after):.3f}"
    if len(after) > 1:
        mean += f" ± {mean_and_half_width(after)[1]:.3f}"
    lines.append(f"| mean | | | {statistics.fmean(before):.3f} | {mean} | |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how many, counted from 0")
    parser.add_argument("--folder", type=Path, help="where to keep the runs; by default they are removed")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        summaries = [train(seed, folder / str(seed)) for seed in range(arguments.seeds)]
    print(json.dumps(report(summaries)) if arguments.json else table(summaries))


if __name__ == "__main__":
    main()
