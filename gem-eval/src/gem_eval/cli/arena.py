"""`gemx arena`: a tournament of policies in a game for several players."""

import sys
from collections import deque
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gem.cli.error_output import error_line
from gem.cli.options import POSITIVE, Seed, arguments, as_json, components, parse_arguments
from gem.cli.output import console, echo, print_json, print_waiting, stray_prints_to_stderr
from gem.errors import ConfigError
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.rollout.named_policies import LOCAL_MODELS, policy_ref
from gem_eval.cli.report import print_failures
from gem_eval.roles import OPENAI
from gem_eval.settings import Budget, TournamentSettings, in_words
from gem_eval.suite import make_group
from gem_eval.tournament import Tournament


@click.command()
@click.argument("policies", metavar="POLICY…", nargs=-1, required=True)
@click.option("--env", "id", required=True, metavar="ID", help="The game.")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Games of each line-up, such as each two of the policies in a game for two; up to whole seeds.",
)
@click.option("--seed", type=Seed(), default=0, show_default=True, help="Gives every game its own seed.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the tournament in FOLDER: each game as it ends. Those that it has already are not played again.",
)
@click.option("--base-url", metavar="URL", help="Of the server of every openai:NAME, before /chat/completions.")
@click.option("--num-envs", type=click.IntRange(min=1), help="Most games at once.  [default: as for `gemx eval`]")
@click.option("--max-tokens", type=click.IntRange(min=1), help="End before all together use more tokens.")
@click.option("--max-minutes", type=POSITIVE, help="End after so many minutes.")
@arguments
@as_json
@click.pass_context
def arena(ctx: click.Context, **given: Any) -> None:
    """Play a tournament of policies, and rate them by Bradley and Terry's model with 95% intervals.

    POLICY is what `gemx eval --model` takes, or JSON with settings: '{"name": "openai:NAME", "temperature": 0.5}'. All
    pairs play (in a game for three all threes), on equal seeds with their seats swapped. Whoever has the higher return
    of two has won. Games in which the environment or a policy failed are counted, and left out of the rest.

    The exit status is 1 if every game failed, and 3 if a budget ended the tournament early. The same command with --out
    plays what is missing, and failed games again.
    """
    with stray_prints_to_stderr():
        tournament = Tournament(_settings(given), given["out"])
        _print_notes(tournament)
        stopped: BaseException | None = None
        try:
            _with_progress(tournament)
        except (Exception, KeyboardInterrupt) as error:
            stopped = error
    if stopped and not tournament.played:
        raise stopped
    if given["as_json"]:
        error = {"error": error_line(stopped)} if isinstance(stopped, Exception) else {}
        print_json({**tournament.as_json(), "resumed": tournament.resumed, **error})
    else:
        _print_report(tournament)
    print_failures(tournament.failed, debug=ctx.find_root().params["debug"])
    partial = tournament.played < tournament.asked
    if tournament.out and (partial or tournament.failed):
        what = "what is missing" if partial else "the failed games again"
        echo(f"The same command plays {what}.", err=True)
    if stopped:
        raise stopped
    if tournament.failed and len(tournament.failed) == tournament.played:
        ctx.exit(1)
    if partial:
        ctx.exit(3)


def _settings(given: dict[str, Any]) -> TournamentSettings:
    policies = [_policy(text) for text in given["policies"]]
    if given["base_url"]:
        asking = [name_and_settings(each)[0] == OPENAI for each in policies]
        if not any(asking):
            raise ConfigError("--base-url is for openai:NAME, and no POLICY is one")
        for number, asks in enumerate(asking):
            if asks:
                name, own = name_and_settings(policies[number])
                policies[number] = {"name": name, "base_url": given["base_url"], **own}
    budget = {name: given[name] for name in ("max_tokens", "max_minutes") if given[name] is not None}
    game = make_group("", {"ids": [given["id"]], "kwargs": parse_arguments(given["arguments"])})
    fields = {name: given[name] for name in ("games", "seed", "num_envs")}
    try:
        return TournamentSettings(policies=tuple(policies), game=game, budget=Budget(**budget), **fields)
    except ValidationError as error:
        raise ConfigError(in_words(error, "", TournamentSettings.model_fields)) from error


def _policy(text: str) -> ComponentRef:
    named = [text] if Path(text).is_dir() else components("POLICY", text)
    if len(named) != 1:
        raise ConfigError(f"give policies with spaces between, not {text!r}")
    return policy_ref(named[0])


def _print_notes(tournament: Tournament) -> None:
    if tournament.resumed:
        held = f"{tournament.out} holds {tournament.resumed} of the {tournament.asked} games"
        echo(f"{held}; they are not played again.", err=True)
    if tournament.others:
        others = f"{tournament.others} episodes that this tournament does not ask for, such as failed ones"
        echo(f"{tournament.out} also holds {others}.", fg="yellow", err=True)
    names = {name_and_settings(each)[0] for each in tournament.settings.policies}
    if names & set(LOCAL_MODELS) and tournament.played < tournament.asked:
        print_waiting("loading the models")


def _with_progress(tournament: Tournament) -> None:
    """Play the tournament, with a progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        deque(tournament.play(), maxlen=0)
        return
    columns = (TextColumn("playing"), BarColumn(bar_width=None), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task("playing", total=tournament.asked)
        for _ in tournament.play():
            bar.update(task, completed=tournament.played)


def _print_report(tournament: Tournament) -> None:
    found, settings = tournament.standings(), tournament.settings
    games = f"{tournament.played:,}"
    if tournament.played < tournament.asked:
        games += f" of {tournament.asked:,}"
    echo(f"{settings.game.ids[0]}: {games} games, seed {settings.seed}")
    if tournament.budget_spent:
        echo("The budget is spent; this is a partial report.", fg="yellow")
    ranks = _table("policy", "rating", "95% interval", "games", "won", "drawn", "lost", "failed")
    returns = _table("mean return", *(f"as {seat}" for seat in tournament.seats))
    for each in found.players:
        low, high = each.rating_ci
        counts = (f"{count:,}" for count in (each.games, each.won, each.drawn, each.lost, each.failures))
        ranks.add_row(each.name, f"{each.rating:+.0f}", f"{low:+.0f} to {high:+.0f}", *counts)
        returns.add_row(each.name, *("" if mean is None else f"{mean:.3f}" for mean in each.returns.values()))
    pairs = _table("policy", "won", "drawn", "lost", "points", "against")
    for each in found.pairs:
        compared = each.won + each.drawn + each.lost
        points = f"{(each.won + each.drawn / 2) / compared:.1%}" if compared else ""
        pairs.add_row(each.first, *(f"{count:,}" for count in (each.won, each.drawn, each.lost)), points, each.second)
    for table in (ranks, returns, pairs):
        console().print(table)
        echo("")


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in titles:
        text = title in ("policy", "mean return", "against")
        table.add_column(title, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return table
