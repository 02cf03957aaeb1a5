"""The progress bar and the report of `gemx eval`."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from gem.cli.error_output import frame_to_show
from gem.cli.output import console, echo
from gem.failure import Failure
from gem.rollout.evaluation import Report
from gem.rollout.transcript import Episode

MOST_FAILURES = 10
"""The most distinct failures that are printed."""


def with_progress(episodes: Iterable[Episode], total: int, before: Sequence[Episode]) -> Iterator[Episode]:
    """The same episodes, with a progress bar on standard error, if that is a terminal.

    Args:
        episodes: the new episodes.
        total: the number of all episodes, `before` included.
        before: episodes from a recording.
    """
    columns = (
        TextColumn("playing"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[so_far]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    failed = sum(episode.failure is not None for episode in before)
    won = sum(episode.success for episode in before)
    line = Progress(
        *columns, console=console(stderr=True), transient=True, expand=True, disable=not sys.stderr.isatty()
    )
    with line:
        task = line.add_task("playing", total=total, completed=len(before), so_far=_so_far(won, len(before), failed))
        for played, episode in enumerate(episodes, start=len(before) + 1):
            won, failed = won + episode.success, failed + (episode.failure is not None)
            line.update(task, completed=played, so_far=_so_far(won, played, failed))
            yield episode


def _so_far(won: int, played: int, failed: int) -> str:
    sound = played - failed
    success = f"success {won / sound:.0%}" if sound else ""
    return f"{success} {failed} failed".strip() if failed else success


def print_report(total: Report, each: Sequence[Report], asked: int) -> None:
    """Print the report of all episodes and, for several ids, that of each; `asked` episodes were requested."""
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    grid.add_row("environment", total.id if len(each) < 2 else f"{len(each)}, listed below")
    grid.add_row("model", total.policy)
    if total.episodes < asked:
        grid.add_row("episodes", f"{total.episodes} of {asked}: a partial report, seed {total.seed}", style="yellow")
    else:
        grid.add_row("episodes", f"{total.episodes}, seed {total.seed}")
    if total.failures < total.episodes:
        grid.add_row("success", f"{total.success:.1%}, 95% interval {_interval(total)}", style="bold")
        grid.add_row("mean return", f"{total.return_mean:.3f}")
        grid.add_row("mean turns", f"{total.turns_mean:.2f}")
        if total.calls_mean is not None:
            grid.add_row("mean tool calls", f"{total.calls_mean:.2f}, and {total.refused_mean:.2f} refused")
    grid.add_row("failures", str(total.failures), style="bold red" if total.failures else None)
    if total.cut_off:
        grid.add_row(
            "cut off",
            f"{total.cut_off}, which had not ended at the limit of turns (--max-turns) or of the model's context",
        )
    console().print(grid)
    if len(each) > 1:
        console().print()
        console().print(_by_id(each))


def _by_id(reports: Sequence[Report]) -> Table:
    rows = Table(box=None, pad_edge=False, header_style="dim")
    rows.add_column("environment")
    for title in ("success", "95% interval", "return", "episodes", "failed"):
        rows.add_column(title, justify="right", no_wrap=True)
    for report in reports:
        measured = (f"{report.success:.1%}", _interval(report), f"{report.return_mean:.3f}")
        known = report.failures < report.episodes
        rows.add_row(report.id, *(measured if known else ("", "", "")), str(report.episodes), str(report.failures))
    return rows


def _interval(report: Report) -> str:
    low, high = report.success_ci
    return f"{low:.1%} to {high:.1%}"


def print_failures(failed: Sequence[Episode], *, debug: bool) -> None:
    """Print each distinct failure once, with its place; with `debug`, its whole traceback."""
    failures: Counter[Failure] = Counter()
    seeds: dict[Failure, int] = {}
    for episode in failed:
        assert episode.failure is not None
        failures[episode.failure] += 1
        seeds.setdefault(episode.failure, episode.seed)
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
