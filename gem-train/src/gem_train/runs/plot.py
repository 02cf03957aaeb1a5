"""Pictures of runs: the learning curve of one, and several compared."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gem.cli.output import printable
from gem.files import replacing
from gem_eval.results import Result
from gem_eval.results.curves import Point, curves, smooth
from gem_train.runs.compare import Group

# Not pyplot: it picks a window system and keeps every figure in global state.

_WINDOW = 10
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")
"""Colours that colour-blind readers tell apart (Okabe and Ito); the next eight groups have dashed lines."""
_STYLES = ("-", "--", ":", "-.")
_FEW_GROUPS = 6
"""Number of groups beyond which the legend is beside the curves, and evaluations have no bars."""
_ENOUGH_SEEDS = 3
"""Number of seeds from which on intervals are drawn: of two, one would fill the picture."""


def plot_curve(
    path: Path,
    title: str,
    metrics: Iterable[Mapping[str, Any]],
    before: Mapping[str, Result],
) -> None:
    """Draw success over steps into a PNG, with random play, the expert, and the evaluations.

    Args:
        path: of the PNG.
        title: above the curve.
        metrics: of the run so far.
        before: the results of `random` and `expert`, as far as they are measured.
    """
    success = curves(metrics).get("success", {})
    figure, axes = _figure(title, "success")
    batches = success.get("train", [])
    _draw(axes, batches, color="tab:blue", alpha=0.3, linewidth=1, label="training batches")
    _draw(axes, smooth(batches, _WINDOW), color="tab:blue", linewidth=2, label=f"mean of {_WINDOW} batches")
    for name, colour in (("expert", "tab:green"), ("random", "tab:gray")):
        if name in before and before[name].items:
            axes.axhline(before[name].success, color=colour, linestyle="--", label=f"{name} play")
    _draw_evaluations(axes, success.get("eval", []), "black", "evaluation, 95% interval")
    axes.legend(loc="best")
    figure.savefig(path)


def plot_groups(path: Path, groups: Sequence[Group], metric: str, window: int) -> None:
    """Draw a metric of several groups over steps: means with 95% intervals over seeds, single runs as lines.

    Args:
        path: of the picture; its suffix says the format, such as `.png` or `.svg`.
        groups: at least one.
        metric: of the training steps, and of evaluations where these have it.
        window: steps in a running mean.
    """
    figure, axes = _figure("", metric if window == 1 else f"{metric} (mean of {window} steps)")
    if metric != "success":
        axes.set_ylim(auto=True)
    few = len(groups) <= _FEW_GROUPS
    for index, group in enumerate(groups):
        colour, style = _COLOURS[index % len(_COLOURS)], _STYLES[index // len(_COLOURS) % len(_STYLES)]
        curve, count = group.curve(metric, window), len(group.runs)
        name = printable(group.label).replace("$", r"\$")  # of settings that may come from somebody else
        label = f"{name} ({count} seeds)" if count > 1 else name
        _draw(axes, curve, color=colour, linestyle=style, linewidth=1.8, label=label)
        if count >= _ENOUGH_SEEDS:
            low, high = ([getattr(point, name) for point in curve] for name in ("low", "high"))
            axes.fill_between(
                [point.step for point in curve], low, high, color=colour, alpha=0.18 if few else 0.1, linewidth=0
            )
        points = group.evaluations(metric)
        if not few or count == _ENOUGH_SEEDS - 1:
            points = [Point(point.step, point.mean) for point in points]
        _draw_evaluations(axes, points, colour)
    notes = ["band: 95% interval over seeds"] if any(len(group.runs) >= _ENOUGH_SEEDS for group in groups) else []
    notes += ["dots: evaluations"] if any(group.evaluations(metric) for group in groups) else []
    axes.set_title("; ".join(notes), fontsize=9, color="#555555", loc="left")
    if few:
        axes.legend(loc="best", fontsize=9)
    else:
        figure.set_size_inches(11, 4.5 + 0.16 * max(0, len(groups) - 18))
        figure.legend(loc="outside right upper", fontsize=8)
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix.removeprefix("."))


def _figure(title: str, ylabel: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(xlabel="step", ylabel=ylabel, ylim=(-0.02, 1.05), title=title)
    axes.grid(alpha=0.3)
    return figure, axes


def _draw(axes: Axes, points: Sequence[Point], **style: Any) -> None:
    axes.plot([point.step for point in points], [point.mean for point in points], **style)


def _draw_evaluations(axes: Axes, points: Sequence[Point], colour: str, label: str | None = None) -> None:
    if not points:
        return
    errors = [[point.mean - (point.mean if point.low is None else point.low) for point in points],
              [(point.mean if point.high is None else point.high) - point.mean for point in points]]  # fmt: skip
    axes.errorbar(
        [point.step for point in points], [point.mean for point in points], yerr=errors,
        fmt="o", markersize=4, color=colour, capsize=3 if any(map(any, errors)) else 0, linewidth=1.2, label=label,
    )  # fmt: skip
