"""Runs compared: those that differ in the seed only are one group, with intervals over its seeds. Imports no torch."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from msgspec.structs import asdict

from gem.checks import check_int
from gem.errors import ConfigError, did_you_mean
from gem.seeding import SEEDS
from gem_eval.results.curves import Curves, Point, curves, smooth
from gem_eval.results.intervals import student_t
from gem_train.config.sources import flat, read_toml
from gem_train.config.training import may_change
from gem_train.runs.checkpoints import run_of
from gem_train.runs.files import read_objects

_NAMES = ("id", "algorithm", "model")
"""Settings whose values speak for themselves."""
_LONGEST = 500
"""Characters of a label."""
_MOST_STEPS = 300_000
"""Most steps of a run that is read: its curve is in memory, and the number may come from somebody else."""


@dataclass(frozen=True, slots=True)
class RunData:
    """Contents of a run folder: its `path`, every setting by its dotted name, and its metrics."""

    path: Path
    settings: Mapping[str, Any]
    curves: Curves
    finished: bool
    """True if it has ended by itself."""

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.settings["seed"]

    def points(self, metric: str, phase: str) -> list[Point]:
        """The points of a metric in a phase: `train` or `eval`."""
        return self.curves.get(metric, {}).get(phase, [])

    def curve(self, metric: str, window: int) -> dict[int, float]:
        """Training step → the running mean of the metric.

        A run that ended early because it was solved keeps its last value to the end.
        """
        means = {point.step: point.mean for point in smooth(self.points(metric, "train"), window)}
        last = max(means, default=0)
        rest = range(last + 1, self.settings["steps"] + 1) if self.finished and means else ()
        return means | dict.fromkeys(rest, means[last])


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in nothing but the seed, and what tells them from the other groups."""

    label: str
    runs: tuple[RunData, ...]

    def curve(self, metric: str, window: int) -> list[Point]:
        """The mean over the runs at every step that all of them have made."""
        curves = [run.curve(metric, window) for run in self.runs]
        common = sorted(set.intersection(*map(set, curves)))
        return [_mean_point(step, [values[step] for values in curves]) for step in common]

    def evaluations(self, metric: str) -> list[Point]:
        """The mean over the runs of every evaluation that all have made, and of their last ones."""
        each = [run.points(metric, "eval") for run in self.runs]
        if len(each) == 1:
            return each[0]
        if not all(each):
            return []
        by_step = [{point.step: point.mean for point in points[:-1]} for points in each]
        common = sorted(set.intersection(*map(set, by_step)))
        last = max(points[-1].step for points in each)
        return [
            *(_mean_point(step, [values[step] for values in by_step]) for step in common),
            *([_mean_point(last, [points[-1].mean for points in each])] if last not in common else []),
        ]

    def row(self, metric: str, window: int) -> dict[str, Any]:
        """The group in a table: the metric in its last training steps, and in the first and the last evaluation."""
        curve, evaluations = self.curve(metric, window), self.evaluations(metric)
        return {
            "group": self.label,
            "seeds": [run.seed for run in self.runs],
            "runs": [str(run.path) for run in self.runs],
            "steps": curve[-1].step if curve else 0,
            "training": asdict(curve[-1]) if curve else None,
            "before": asdict(evaluations[0]) if evaluations else None,
            "after": asdict(evaluations[-1]) if evaluations else None,
        }


def read_run(path: Path) -> RunData:
    """Read the settings and metrics of a run folder.

    Raises:
        ConfigError: it is not a run folder, or it has no training step yet.
    """
    folder = run_of(path)
    if folder is None:
        raise ConfigError(f"{path} is not the folder of a run: there is no config.toml in it")
    settings, metrics = flat(read_toml(folder / "config.toml")), folder / "metrics.jsonl"
    for name, least, most in (("seed", 0, SEEDS - 1), ("steps", 1, _MOST_STEPS)):
        check_int(f"{name} in {folder / 'config.toml'}", settings.get(name), least, most)
    try:
        found = curves(read_objects(metrics) if metrics.is_file() else ())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read {metrics}: {error}") from error
    if not any("train" in by_phase for by_phase in found.values()):
        raise ConfigError(f"the run in {folder} has made no training step yet")
    return RunData(folder, settings, found, (folder / "summary.json").exists())


def grouped(runs: Sequence[RunData]) -> list[Group]:
    """The runs in groups, in the order given; each is named after the settings in which the groups differ."""
    kinds: dict[str, list[RunData]] = {}
    for run in runs:
        fixed = {key: value for key, value in run.settings.items() if key != "seed" and not may_change(key)}
        kinds.setdefault(json.dumps(fixed, sort_keys=True, default=str), []).append(run)
    settings = [json.loads(kind) for kind in kinds]
    labels = _labels(settings)
    return [Group(label[:_LONGEST], tuple(members)) for label, members in zip(labels, kinds.values(), strict=True)]


def _labels(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings in which the groups differ, for each group."""
    keys = sorted({key for each in groups for key in each}, key=lambda key: (key not in _NAMES, key))
    values = {key: {json.dumps(each[key]) for each in groups if key in each} for key in keys}
    everywhere = [key for key in keys if len(values[key]) > 1]
    # An algorithm's own settings are missing where another is: they say nothing new, unless all else is alike.
    differ = everywhere + [key for key in keys if len(values[key]) == 1 and any(key not in each for each in groups)]
    labels = [", ".join(_named(key, each) for key in everywhere) for each in groups]
    if len(set(labels)) < len(groups):
        labels = [", ".join(_named(key, each) for key in differ) for each in groups]
    return labels if any(labels) else [f"{each.get('id')}, {each.get('algorithm')}" for each in groups]


def check_metric(runs: Sequence[RunData], metric: str) -> None:
    """Check that a metric was measured.

    Raises:
        ConfigError: in none of the runs was it.
    """
    known = {name for run in runs for name in run.curves}
    if metric not in known:
        near = did_you_mean(metric, known)
        raise ConfigError(f"these runs have no metric {metric!r}.{near} Known: {', '.join(sorted(known))}")


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float]:
    """The mean of at least two values, and half of its 95% interval by Student's t."""
    freedom = len(values) - 1
    return fmean(values), student_t(freedom) * stdev(values) / math.sqrt(len(values))


def _named(key: str, settings: Mapping[str, Any]) -> str:
    value = settings.get(key, "default")
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if key in _NAMES else f"{key}={text}"


def _mean_point(step: int, values: Sequence[float]) -> Point:
    if len(values) == 1:
        return Point(step, values[0])
    mean, half = mean_and_half_width(values)
    return Point(step, mean, mean - half, mean + half)
