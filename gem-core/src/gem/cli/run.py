"""`gemx run`: play a policy on an environment, and measure it."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import get_args

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gem import seeding
from gem.cli.options import (
    Seed,
    arguments,
    as_json,
    parse_arguments,
    parse_wrappers,
    tool_arguments,
    tools,
    wrappers,
)
from gem.cli.output import console, echo, print_json, stray_prints_to_stderr
from gem.evaluate import Report
from gem.record import Recorder
from gem.registry import find_policy
from gem.rollout import rollout
from gem.transcript import Episode, Failure
from gem.vector import BackendName, make_vec

MOST_SLOTS = 16
"""Environments at once, unless --num-envs says otherwise."""


@click.command()
@click.argument("id")
@click.option(
    "--policy",
    default="random",
    show_default=True,
    metavar="NAME",
    help="random, expert, a pack's own, or module:callable.",
)
@click.option("--episodes", type=click.IntRange(min=1), default=100, show_default=True, help="How many to play.")
@click.option("--seed", type=Seed(), default=0, show_default=True, help="Gives every episode its own seed.")
@click.option("--num-envs", type=click.IntRange(min=1), help=f"Episodes at once.  [default: up to {MOST_SLOTS}]")
@click.option(
    "--backend",
    type=click.Choice(get_args(BackendName)),
    default="sync",
    show_default=True,
    help="Where the environments run: here, or in threads, processes or Ray actors.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append each episode to FILE as it finishes.",
)
@tools
@tool_arguments
@wrappers
@arguments
@as_json
@click.pass_context
def run(
    ctx: click.Context,
    *,
    id: str,
    policy: str,
    episodes: int,
    seed: int,
    num_envs: int | None,
    backend: BackendName,
    record: Path | None,
    tools: str,
    tool_arguments: Sequence[str],
    wrappers: str,
    arguments: Sequence[str],
    as_json: bool,
) -> None:
    """Play a policy on the environment ID, and print its success with a 95% Wilson interval.

    An episode whose environment raised an error is a failure: it is counted, printed on standard error, and left
    out of the means. The exit status is 1 if every episode failed.
    """
    with stray_prints_to_stderr():
        seeds = (seeding.derive(seed, "run", i) for i in range(episodes))
        slots = num_envs or min(episodes, MOST_SLOTS)
        with (
            Recorder(record) if record else nullcontext() as recorder,
            closing(find_policy(policy)()) as player,
            make_vec(
                id,
                slots,
                backend=backend,
                wrappers=parse_wrappers(wrappers, tools, tool_arguments),
                hints=player.hints,
                env_kwargs=parse_arguments(arguments),
            ) as envs,
        ):
            playing = rollout(player, envs, seeds)
            played = list(_with_progress(recorder.record(playing) if recorder else playing, episodes))
    report = Report.of(played, id=id, policy=policy, seed=seed)
    if as_json:
        print_json(report.as_json())
    else:
        console().print(_table(report))
    _print_failures([episode for episode in played if episode.failure], debug=ctx.find_root().params["debug"])
    if report.failures == report.episodes:
        ctx.exit(1)


def _with_progress(episodes: Iterable[Episode], total: int) -> Iterator[Episode]:
    """The same episodes, with a bar on standard error if that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        yield from progress.track(episodes, total=total, description="playing")


def _table(report: Report) -> Table:
    low, high = report.success_ci
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("environment", report.id)
    table.add_row("policy", report.policy)
    table.add_row("episodes", f"{report.episodes}, seed {report.seed}")
    if report.failures < report.episodes:
        table.add_row("success", f"{report.success:.1%}, 95% interval {low:.1%} to {high:.1%}", style="bold")
        table.add_row("mean return", f"{report.return_mean:.3f}")
        table.add_row("mean turns", f"{report.turns_mean:.2f}")
        if report.calls_mean is not None:
            table.add_row("mean tool calls", f"{report.calls_mean:.2f}, and {report.refused_mean:.2f} refused")
    table.add_row("failures", str(report.failures), style="bold red" if report.failures else None)
    return table


def _print_failures(failed: Sequence[Episode], *, debug: bool) -> None:
    """Each distinct failure once, with where it was raised; with `debug`, its whole traceback."""
    failures: Counter[Failure] = Counter()
    seeds: dict[Failure, int] = {}
    for episode in failed:
        assert episode.failure is not None
        failures[episode.failure] += 1
        seeds.setdefault(episode.failure, episode.seed)
    for failure, count in failures.most_common():
        echo(f"{count} failed, such as seed {seeds[failure]}: {failure.error}", fg="red", err=True)
        echo(failure.traceback if debug else _raised_at(failure), err=True)


def _raised_at(failure: Failure) -> str:
    """The line of the traceback that says where the error was raised."""
    frames = [line for line in failure.traceback.splitlines() if line.startswith('  File "')]
    return frames[-1] if frames else ""
