"""The table and the picture of `baselines.py`, from its small files."""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from baseline_results import ALGORITHMS, measured_floors, runs
from baseline_rows import Row
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from trials import interval

from gem.errors import ConfigError, did_you_mean

COLOURS = {"reinforce": "#d55e00", "rebn": "#0072b2"}
COLUMNS = 6
SEEDS = 3
"""The fewest that a row is judged by."""
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def report(rows: Sequence[Row], folder: Path) -> list[dict[str, Any]]:
    """What is known of each row; a row without runs has no seeds.

    Differences are paired by seed: `gain` of each algorithm is after − before, `rebn_minus_reinforce` is of the success
    after training. A figure is `[mean, half of the 95% interval]` by Student's t over the seeds; the half is None for a
    single seed.
    """
    return [_row(row, folder) for row in rows]


def _row(row: Row, folder: Path) -> dict[str, Any]:
    found = runs(row, folder)
    both = [seed for seed in found["rebn"] if seed in found["reinforce"]]
    seconds = [sum(run["seconds"].values()) for each in found.values() for run in each.values()]
    return {
        "row": row.name,
        "paper": row.paper + (" with a tool" if row.tool else ""),
        "settings": row.as_data(),
        "floors": measured_floors(row, folder, measure=False),
        "algorithms": {
            name: {
                "seeds": list(each),
                "before": _figure([run["before"] for run in each.values()]),
                "after": _figure([run["after"] for run in each.values()]),
                "gain": _figure([run["after"] - run["before"] for run in each.values()]),
            }
            for name, each in found.items()
            if each
        },
        "seeds": both,
        "rebn_minus_reinforce": _figure(
            [found["rebn"][seed]["after"] - found["reinforce"][seed]["after"] for seed in both]
        ),
        "seconds": sum(seconds),
    }


def _figure(values: Sequence[float]) -> list[float | None] | None:
    if not values:
        return None
    middle, half = interval(values)
    return [middle, half if len(values) > 1 else None]


def improves(row: dict[str, Any], algorithm: str = "rebn") -> bool:
    """Whether there are `SEEDS` or more, and the interval of after − before is above 0."""
    found = row["algorithms"].get(algorithm)
    return bool(found) and len(found["seeds"]) >= SEEDS and found["gain"][0] - found["gain"][1] > 0


def table(found: Sequence[dict[str, Any]]) -> str:
    """The report as GitHub Markdown, and a summary below it."""
    lines = [
        "| row | in the paper | random | constant | expert | seeds | before | REINFORCE | ReBN | ReBN, after − before "
        "| ReBN − REINFORCE |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in found:
        floors: dict[str, Any] = row["floors"] or {}
        shares = [f"{floors[name]:.2f}" if floors else "" for name in ("random", "constant", "expert")]
        algorithms = row["algorithms"]
        rebn = algorithms.get("rebn", {})
        before = next((f"{each['before'][0]:.2f}" for each in algorithms.values()), "")
        figures = [
            *(_words(algorithms.get(name, {}).get("after")) for name in ALGORITHMS),
            _words(rebn.get("gain"), "+") + (" ↑" if improves(row) else ""),
            _words(row["rebn_minus_reinforce"], "+"),
        ]
        cells = [f"`{row['row']}`", row["paper"], *shares, str(len(row["seeds"])), before, *figures]
        lines.append(f"| {' | '.join(cells)} |")
    better = [row["row"] for row in found if improves(row)]
    others = [row["row"] for row in found if row["row"] not in better]
    hours = sum(row["seconds"] for row in found) / 3600
    count = f"{len(better)} of {len(found)} rows"
    lines.append(f"\nReBN improves clear of 0 (↑) in {count}; {hours:.1f} hours of a thread that shared its core.")
    if others:
        lines.append(f"Not among them: {', '.join(others)}.")
    if few := [row["row"] for row in found if len(row["seeds"]) < SEEDS]:
        lines.append(f"Fewer than {SEEDS} seeds: {', '.join(few)}.")
    floored = [row["row"] for row in found if _floored(row)]
    if floored:
        lines.append(f"After training no better than the best single reply: {', '.join(floored)}.")
    return "\n".join(lines)


def _floored(row: dict[str, Any]) -> bool:
    rebn = row["algorithms"].get("rebn")
    return bool(rebn and row["floors"] and rebn["after"][0] <= row["floors"]["constant"])


def written(page: str, name: str, text: str) -> str:
    """The page with this text between the marks of this name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    return marks.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)


def known(text: str, names: Sequence[str]) -> list[str]:
    """Names separated by commas.

    Raises:
        ConfigError: one is not among `names`.
    """
    found = text.split(",")
    for name in found:
        if name not in names:
            raise ConfigError(f"there is no {name!r}.{did_you_mean(name, names)} There are: {', '.join(names)}")
    return found


def _words(figure: Sequence[float | None] | None, sign: str = "") -> str:
    if figure is None:
        return ""
    middle, half = figure
    return f"{middle:{sign}.2f}" + ("" if half is None else f" ± {half:.2f}")


def draw(rows: Sequence[Row], folder: Path, picture: Path) -> None:
    """The learning curves: a panel for each row, with means and the range over the seeds, and floors as lines."""
    lines = -(-len(rows) // COLUMNS)
    figure = Figure(figsize=(2.5 * COLUMNS, 2.1 * lines + 0.6), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(lines, COLUMNS, sharey=True, squeeze=False).flatten()
    for row, axis in zip(rows, axes, strict=False):
        floors = measured_floors(row, folder, measure=False) or {}
        for name, style in (("random", ":"), ("constant", "-."), ("expert", "--")):
            if name in floors:
                axis.axhline(floors[name], color="0.5", linewidth=1, linestyle=style, label=name)
        for name, each in runs(row, folder).items():
            curves = [run["curve"] for run in each.values()]
            if curves:
                steps = [step for step, _ in curves[0]]
                values = [[share for _, share in curve] for curve in curves]
                columns = list(zip(*values, strict=True))
                axis.plot(steps, [fmean(column) for column in columns], color=COLOURS[name], linewidth=1.4, label=name)
                low, high = [min(column) for column in columns], [max(column) for column in columns]
                axis.fill_between(steps, low, high, color=COLOURS[name], alpha=0.15, linewidth=0)
        axis.set_title(row.name, fontsize=10)
        axis.set_ylim(0, 1.03)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=8)
    for axis in axes[len(rows) :]:
        axis.set_visible(False)
    for axis in axes[::COLUMNS]:
        axis.set_ylabel("success", fontsize=9)
    for axis in axes[max(0, len(rows) - COLUMNS) : len(rows)]:
        axis.set_xlabel("step", fontsize=9)
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize=9)  # pyright: ignore[reportUnknownMemberType]
    figure.savefig(picture)  # pyright: ignore[reportUnknownMemberType]
