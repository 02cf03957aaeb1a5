"""Curves of a training run, of the lines of its `metrics.jsonl`: for the page of `gemx view`, pictures and tables."""

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from msgspec import Struct

from gem.files import read_lines


class Point(Struct, frozen=True):
    """A value at a step, from `low` to `high`, its 95% interval; None where it has none."""

    step: int
    mean: float
    low: float | None = None
    high: float | None = None


Curves = dict[str, dict[str, list[Point]]]
"""Metric → phase → points in order."""


def curves(lines: Iterable[Mapping[str, Any]]) -> Curves:
    """The curves of the lines of a run's metrics, in order. Where a metric is not a finite number, it has no point.

    The values of `METRIC_low` and `METRIC_high` on the same line are the interval of METRIC.
    """
    found: Curves = {}
    for line in lines:
        phase, step = str(line.get("phase", "")), _number(line.get("step"))
        for name, value in line.items() if step is not None else ():
            if name != "step" and (mean := _number(value)) is not None:
                point = Point(
                    cast("int", step), mean, _number(line.get(f"{name}_low")), _number(line.get(f"{name}_high"))
                )
                found.setdefault(name, {}).setdefault(phase, []).append(point)
    return found


def read_metrics(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects in a file of metrics; a run that is going on may have written half of the last one."""
    for line in read_lines(path):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):  # it may come from somebody else
            continue
        if isinstance(found, dict):
            yield cast("Mapping[str, Any]", found)


def smooth(points: Sequence[Point], window: int) -> list[Point]:
    """The running mean: of each value and the up to `window - 1` before it."""
    recent: deque[float] = deque(maxlen=window)
    return [Point(point.step, fmean(recent)) for point in points if recent.append(point.mean) is None]


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """About so many of the points at most, evenly spaced, and always the last one."""
    every = math.ceil(len(points) / most)
    return [*points[::every], *([points[-1]] if (len(points) - 1) % every else [])]


def _number(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return cast("float", value) if usable else None
