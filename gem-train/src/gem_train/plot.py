"""The learning curve as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gem.rollout.evaluation import Report
from gem_train.evaluation import Baselines

_WINDOW = 10


def plot_curve(
    path: Path, title: str, metrics: Sequence[Mapping[str, Any]], baselines: Baselines, after: Report | None = None
) -> None:
    """Draw success over steps into a PNG, with random play, the expert, and the evaluations.

    Args:
        path: of the PNG.
        title: above the curve.
        metrics: of the training steps so far; at least one.
        baselines: evaluations from before training.
        after: the evaluation after training, if there is one yet.
    """
    # Not pyplot: it picks a window system and keeps every figure in global state.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    steps = np.array([line["step"] for line in metrics])
    success = np.array([line["success"] for line in metrics])
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(steps, success, color="tab:blue", alpha=0.3, linewidth=1, label="training batches")
    axes.plot(steps, _running_mean(success), color="tab:blue", linewidth=2, label=f"mean of {_WINDOW} batches")
    for name, report, colour in (
        ("expert", baselines.expert, "tab:green"),
        ("random", baselines.random, "tab:gray"),
    ):
        if report is not None and report.failures < report.episodes:
            axes.axhline(report.success, color=colour, linestyle="--", label=f"{name} play")
    for step, report in ((0, baselines.model), (steps[-1], after)):
        if report is not None and report.failures < report.episodes:
            rate, (low, high) = report.success, report.success_ci
            axes.errorbar(
                [step], [rate], yerr=[[rate - low], [high - rate]], fmt="o", color="black", capsize=4,
                label="evaluation, 95% interval" if step == 0 else None,
            )  # fmt: skip
    axes.set(xlabel="step", ylabel="success", ylim=(-0.02, 1.05), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="best")
    figure.savefig(path)


def _running_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each value and the up to nine before it."""
    return np.array([values[max(0, end - _WINDOW) : end].mean() for end in range(1, len(values) + 1)])
