"""Small files of what runs of `baselines.py` came to, and the runs and floors that they are made from."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from baseline_rows import Row
from floors import TRAINED, expert, sampled
from trials import imitated, trained

import gem
from gem import seeding
from gem.audit.blind_play import Effort, Subject, best_list, cycled

RESULTS = Path(__file__).parent / "baseline_runs"
ALGORITHMS = ("reinforce", "rebn")
POINTS = 50
"""The most points of a curve that is kept."""
FLOOR_EPISODES = 256
_EFFORT = Effort(cycles=0, changes=0)
"""Lists of several replies are not wanted."""


def digest(settings: Any) -> str:
    """A short name of settings: equal settings have the same."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


def curve(values: Sequence[float]) -> list[tuple[int, float]]:
    """At most `POINTS` means of as many consecutive steps each, with the number of the last of these steps."""
    width = -(-len(values) // POINTS)
    ends = range(width, len(values) + width, width)
    return [(min(end, len(values)), round(fmean(values[end - width : end]), 4)) for end in ends]


def start_of(row: Row, seed: int, folder: Path) -> Path:
    """The model that the runs of a row and seed start from, made by imitation unless it is there."""
    settings = row.imitation(seed)
    return imitated(settings, folder / f"{row.name}-{seed}-{digest(settings)}")


def settings_of(row: Row, algorithm: str, seed: int) -> str:
    """The short name of all settings of a run, those of its imitation too."""
    return digest([row.imitation(seed), row.training(algorithm, seed)])


def run_of(row: Row, algorithm: str, seed: int, folder: Path) -> Path:
    """The folder of a run."""
    return folder / f"{row.name}-{algorithm}-{seed}-{settings_of(row, algorithm, seed)}"


def play(row: Row, algorithm: str, seed: int, folder: Path, start: Path | None = None) -> dict[str, Any]:
    """What one run came to, as its file has it. It is carried out, or resumed, unless it has finished in `folder`.

    It starts from the model `start`, by default from the row's own.
    """
    start = start_of(row, seed, folder) if start is None else start
    run = trained([row.training(algorithm, seed), {"model": str(start)}], run_of(row, algorithm, seed, folder))
    return {
        "row": row.name,
        "algorithm": algorithm,
        "seed": seed,
        "settings": settings_of(row, algorithm, seed),
        "before": run.before,
        "after": run.after,
        "turns": [run.turns_before, run.turns_after],
        "curve": [list(point) for point in curve(run.training)],
        "seconds": {
            "imitation": json.loads((start / "summary.json").read_text("utf-8"))["seconds"],
            "training": run.seconds,
        },
    }


@dataclass(frozen=True)
class File:
    """The file of one run."""

    folder: Path
    row: Row
    algorithm: str
    seed: int

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder / self.row.name / f"{self.algorithm}-{self.seed}.json"

    def read(self) -> dict[str, Any] | None:
        """What the run came to; None if it has no file, or one of other settings."""
        return _read(self.path, settings_of(self.row, self.algorithm, self.seed))

    def write(self, result: Mapping[str, Any]) -> None:
        """Keep what the run came to."""
        _write(self.path, result)


def runs(row: Row, folder: Path) -> dict[str, dict[int, dict[str, Any]]]:
    """What the runs of a row came to, by algorithm and seed."""
    seeds = sorted({int(path.stem.split("-")[1]) for path in (folder / row.name).glob("*-*.json")})
    read = {name: {seed: File(folder, row, name, seed).read() for seed in seeds} for name in ALGORITHMS}
    return {name: {seed: each for seed, each in found.items() if each is not None} for name, found in read.items()}


def measured_floors(row: Row, folder: Path, *, measure: bool = True) -> dict[str, Any] | None:
    """The success of random play, of the best single reply and of the expert in a row; from its file, if it has one.

    Tools are random play's and the expert's, too. The best reply is chosen on other episodes than it is measured on,
    among those of random play and of the expert.
    """
    what = {"id": row.id, "env": dict(row.env), "wrappers": row.wrappers, "episodes": FLOOR_EPISODES}
    path = folder / row.name / "floors.json"
    found = _read(path, digest(what))
    if found is None and measure:
        found = {"row": row.name, "settings": digest(what), **_floors(row)}
        _write(path, found)
    return found


def _floors(row: Row) -> dict[str, Any]:
    choosing, measuring = (
        [seeding.derive(part, "baselines", row.name, number) for number in range(count)]
        for part, count in ((1, TRAINED), (2, FLOOR_EPISODES))
    )
    env = gem.make(row.id, wrappers=row.wrappers, **row.env)
    try:
        subject = Subject(env)
        at_random, of_expert = ([subject.play(seed, who)[2] for seed in choosing] for who in (sampled, expert))
        constant, _ = best_list(subject, at_random, of_expert, choosing, _EFFORT, random.Random(0))
        return {
            "random": subject.success(measuring, sampled),
            "constant": subject.success(measuring, cycled(constant)),
            "expert": subject.success(measuring, expert),
            "reply": constant[0],
        }
    finally:
        env.close()


def _read(path: Path, settings: str) -> dict[str, Any] | None:
    if not path.exists():
        return None
    found = json.loads(path.read_text("utf-8"))
    return found if found["settings"] == settings else None


def _write(path: Path, data: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data) + "\n", "utf-8")
