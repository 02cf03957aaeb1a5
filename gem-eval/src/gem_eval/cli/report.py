"""The progress bar and the report of `gemx eval`."""

import math
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from gem.cli.error_output import frame_to_show
from gem.cli.output import console, echo
from gem.errors import Failure
from gem_eval import Evaluation
from gem_eval.results import Result

MOST_FAILURES = 10
"""The most distinct failures that are printed."""
NARROW = 120
"""Characters in a line below which the progress bar and the table of several ids leave something out."""


def with_progress(evaluation: Evaluation) -> None:
    """Play the evaluation, with a progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        deque(evaluation.play(), maxlen=0)
        return
    shown = console(stderr=True)
    columns = [
        TextColumn("{task.description}"),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        MofNCompleteColumn(),
        SoFar(evaluation),
        *([TimeElapsedColumn(), TextColumn("left")] if shown.width >= NARROW else []),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=shown, transient=True, expand=True) as bar:
        task = bar.add_task("playing", total=evaluation.asked)
        phase = ""
        for _ in evaluation.play():
            if phase != evaluation.phase:
                phase = evaluation.phase
                bar.reset(task, description=phase, total=evaluation.phase_size)
            bar.update(task, completed=evaluation.phase_done)


class SoFar(ProgressColumn):
    """Success, tokens, cost and repeated requests so far; they grow while episodes run."""

    max_refresh = 0.2

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._evaluation = evaluation

    def render(self, task: Task) -> Text:
        parts: list[str] = []
        failed = len(self._evaluation.failed)
        if sound := self._evaluation.played - failed:
            parts.append(f"success {self._evaluation.won / sound:.0%}")
        meter = self._evaluation.meter
        if meter is not None and meter.tokens:
            parts.append(f"{short(meter.tokens)} tokens")
        if meter is not None and meter.cost is not None:
            parts.append(f"cost {meter.cost:.2f}")
        if meter is not None and meter.repeated:
            parts.append(f"{short(meter.repeated)} repeated")
        if failed:
            parts.append(f"{failed} failed")
        return Text(", ".join(parts))


def short(count: float) -> str:
    """A large number in a few characters: 950, 12.3k, 4.56M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return f"{count:.0f}"


def print_report(evaluation: Evaluation) -> None:
    """Print the report of all episodes and, for several ids, that of each."""
    summaries, total = evaluation.summaries(), evaluation.total()
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    grid.add_row("environment", total.id if len(summaries) < 2 else f"{len(summaries)}, listed below")
    grid.add_row("model", evaluation.title)
    seed = f"seed {evaluation.settings.seed}"
    if total.episodes < evaluation.asked:
        why = "the budget is spent, " if evaluation.budget_spent else ""
        episodes = f"{total.episodes:,} of {evaluation.asked:,}: a partial report, {why}{seed}"
        grid.add_row("episodes", episodes, style="yellow")
    else:
        fewest, most = total.k, max(each.k for each in summaries)
        times = f"{most}" if fewest == most else f"{fewest} to {most}"
        attempts = f", {times} attempts at each of {_items(evaluation.items)}" if most > 1 else ""
        grid.add_row("episodes", f"{total.episodes:,}{attempts}, {seed}")
    if total.items:
        _add_results(grid, total, evaluation.items)
    for role, asked in evaluation.roles.items():
        price = evaluation.role_cost(role)
        cost = f"; cost {price:,.4g}" if price is not None else ""
        cached = f"; {asked.cached:,} answers from the cache" if asked.cached else ""
        failed = f"; {asked.failed:,} without a usable answer" if asked.failed else ""
        tokens = f"{asked.usage.prompt:,} tokens read, {asked.usage.completion:,} written"
        grid.add_row(role, f"{asked.replies:,} replies, {tokens}{cost}{cached}{failed}")
    grid.add_row("failures", f"{total.failures:,}", style="bold red" if total.failures else None)
    if total.cut_off:
        limits = "which had not ended at the limit of turns (--max-turns) or of the model's context"
        grid.add_row("cut off", f"{total.cut_off:,}, {limits}")
    console().print(grid)
    if len(summaries) > 1:
        console().print()
        console().print(_by_id(summaries))


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"


def _add_results(grid: Table, total: Result, asked: int) -> None:
    """Add rows; those of other items than were `asked`, or than the model has, say so."""
    of = "" if total.items == asked else f", of {_items(total.items)}"
    grid.add_row("success", f"{total.success:.1%}, 95% interval {_interval(total.success_ci)}{of}", style="bold")
    for floor, of_floor in total.floors.items():
        if of_floor.items:
            of = "" if of_floor.items == total.items else f", of {_items(of_floor.items)}"
            grid.add_row(f"  {floor}", f"{of_floor.success:.1%}, {_interval(of_floor.success_ci)}{of}")
    if total.k > 1:
        of = "" if total.complete == total.items else f", of the {total.complete:,} items with {total.k} sound attempts"
        for name, chances, interval in (
            ("@", total.pass_at, total.pass_at_ci),
            ("^", total.pass_hat, total.pass_hat_ci),
        ):
            known = f"{chances[total.k]:.1%}, {_interval(interval)}" if total.complete else "unknown"
            grid.add_row(f"pass{name}{total.k}", known + of)
    low, high = total.return_ci
    within = "" if math.isnan(low) else f", {low:.3f} to {high:.3f}"
    grid.add_row("mean return", f"{total.return_mean:.3f}{within}")
    for part, mean in total.parts.items():
        grid.add_row(Text(f"  {part}"), f"{mean:.3f}")
    grid.add_row("mean turns", f"{total.turns_mean:.2f}")
    if total.calls_mean is not None:
        refused = f", and {total.refused_mean:.2f} refused" if total.refused_mean is not None else ""
        grid.add_row("mean tool calls", f"{total.calls_mean:.2f}{refused}")
    if total.prompt_tokens or total.completion_tokens:
        cost = f"; cost {total.cost:,.4g}" if total.cost is not None else ""
        grid.add_row("tokens", f"{total.prompt_tokens:,} read, {total.completion_tokens:,} written{cost}")
    if not math.isnan(total.latency_median):
        grid.add_row("latency", f"{total.latency_median:.3g} s a reply, 95% within {total.latency_p95:.3g} s")


def _by_id(summaries: Sequence[Result]) -> Table:
    """A row per id; in a narrow terminal without some columns."""
    k = max(each.k for each in summaries)
    floors = [name for name in ("random", "expert") if any(name in each.floors for each in summaries)]
    powers = [f"pass@{k}", f"pass^{k}"] if k > 1 else []
    titles = ["success", "95% interval", *floors, *powers, "return", "episodes", "failed"]
    if console().width < NARROW:
        of_little_use = {
            "return",
            "episodes",
            f"pass^{k}",
            "" if any(each.failures for each in summaries) else "failed",
        }
        titles = [title for title in titles if title not in of_little_use]
    rows = Table(box=None, pad_edge=False, header_style="dim")
    grouped = any(each.group for each in summaries)
    for title in (["group"] if grouped else []) + ["environment"]:
        rows.add_column(title, overflow="fold")
    for title in titles:
        rows.add_column(title, justify="right", no_wrap=True)
    for each in summaries:
        cells = _cells(each, floors, k)
        rows.add_row(*([each.group] if grouped else []), each.id, *(cells.get(title, "") for title in titles))
    return rows


def _cells(each: Result, floors: Sequence[str], k: int) -> dict[str, str]:
    """The cells of a row by title."""
    beside = {name: each.floors[name].success for name in floors if name in each.floors}
    cells = {"episodes": f"{each.episodes:,}", "failed": f"{each.failures:,}", **_percent(beside)}
    if not each.items:
        return cells
    at, hat = each.pass_at.get(k, math.nan), each.pass_hat.get(k, math.nan)
    cells |= _percent({"success": each.success, f"pass@{k}": at, f"pass^{k}": hat})
    return {**cells, "95% interval": _interval(each.success_ci), "return": f"{each.return_mean:.3f}"}


def _percent(shares: Mapping[str, float]) -> dict[str, str]:
    return {title: f"{share:.1%}" for title, share in shares.items() if not math.isnan(share)}


def _interval(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{low:.1%} to {high:.1%}"


def print_failures(failed: Sequence[tuple[int, Failure]], *, debug: bool) -> None:
    """Print each distinct failure once, with its place; with `debug`, its whole traceback."""
    failures: Counter[Failure] = Counter()
    seeds: dict[Failure, int] = {}
    for seed, failure in failed:
        failures[failure] += 1
        seeds.setdefault(failure, seed)
    for failure, count in failures.most_common(MOST_FAILURES):
        echo(f"{count} failed, such as seed {seeds[failure]}: {failure.error}", fg="red", err=True)
        echo(failure.traceback if debug else _raised_at(failure), err=True)
    if len(failures) > MOST_FAILURES:
        echo(f"… and {len(failures) - MOST_FAILURES} more errors.", fg="red", err=True)


def _raised_at(failure: Failure) -> str:
    """The line of the traceback with the place of the error."""
    frames = [line for line in failure.traceback.splitlines() if line.startswith('  File "')]
    index = frame_to_show([line.split('"')[1] for line in frames])
    return "" if index is None else frames[index]
