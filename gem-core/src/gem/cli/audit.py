"""`gemx audit`: whether tasks of environments can be believed."""

from collections.abc import Sequence
from pathlib import Path

import click

from gem.audit import auditing
from gem.audit.auditing import LIMIT, entries_of, probes, summary
from gem.audit.card import Card, ProbeOutcome
from gem.audit.kept import kept
from gem.cli.options import POSITIVE, as_json, role, role_models
from gem.cli.output import Console, console, echo, listing, print_json, stray_prints_to_stderr
from gem.files import replacing
from gem.llm.models import use_models

_WORDS = {
    "sound": ("sound", "green"),
    "found": ("FOUND", "bold red"),
    "known": ("known", "cyan"),
    "skipped": ("skip", "yellow"),
}


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--probe", "only", multiple=True, metavar="PROBE", help="Run this probe only. Repeatable.")
@click.option("--list", "listed", is_flag=True, help="List the probes instead.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="How many are audited at once.")
@click.option(
    "--timeout", type=POSITIVE, default=LIMIT, show_default=True, help="The time limit of each probe, in seconds."
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a short form of the cards too, as the file audit.json of a pack.",
)
@role
@as_json
@click.pass_context
def audit(
    ctx: click.Context,
    *,
    names: Sequence[str],
    only: Sequence[str],
    listed: bool,
    jobs: int,
    timeout: float,
    out: Path | None,
    roles: Sequence[str],
    as_json: bool,
) -> None:
    """Ask whether the tasks of environments can be believed.

    NAME is an id, a "module:Class", or a pack by its distribution or namespace. Probes play each environment as a cheat
    would: what silence, a constant or a guess earns, whether the answer is shown, whether the right one is accepted.
    Prints a line for each environment, and what was found, with a seed and actions that show it. The exit status is 1
    if anything was found that the spec does not explain (known_findings).
    """
    if listed:
        _list_probes(as_json=as_json)
        return
    if not names:
        raise click.UsageError("Which environments? Name an id or a pack. --list names the probes.")
    debug: bool = ctx.find_root().params["debug"]
    total, playing = len(entries_of(names)), dict[str, str]()
    cards: list[Card] = []
    printed, status = console(), console(stderr=True).status("")  # before what is printed goes to standard error

    def say(id: str, probe: str) -> None:
        playing[id] = probe
        now = ", ".join(f"{id}: {probe}" for id, probe in sorted(playing.copy().items()))
        status.update(f"{len(cards)} of {total}; {now}")

    with use_models(role_models(roles)), status, stray_prints_to_stderr():
        for card in auditing.audit(*names, only=only, limit=timeout, jobs=jobs, say=say):
            playing.pop(card.id, None)
            cards.append(card)
            if not as_json:
                _print(printed, card, debug=debug)
    if out is not None:
        with replacing(out) as file:
            file.write(kept(cards).encode())
    unsound = sum(not card.sound for card in cards)
    if as_json:
        print_json({"ok": not unsound, "cards": [card.as_json() for card in cards]})
    else:
        envs = "1 environment" if len(cards) == 1 else f"{len(cards)} environments"
        console().print(f"{envs}: {len(cards) - unsound} sound", style="bold red" if unsound else "bold green")
    if unsound:
        ctx.exit(1)


def _list_probes(*, as_json: bool) -> None:
    found = {name: summary(name) for name in probes()}
    if as_json:
        print_json({"probes": found})
        return
    table = listing("probe", "what it asks")
    for name, asked in found.items():
        table.add_row(name, asked)
    console().print(table)


def _print(out: Console, card: Card, *, debug: bool) -> None:
    counts = {state: sum(outcome.state == state for outcome in card.outcomes) for state in _WORDS}
    state = next((each for each in ("found", "known", "sound") if counts[each]), "skipped")
    word, style = _WORDS[state]
    counted = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    out.print(word, style=style, end="")
    out.print(f"  {card.id}  {counted} ({card.seconds:.1f} s)", soft_wrap=True)
    for outcome in card.outcomes:
        if outcome.state in ("found", "known"):
            _print_outcome(out, outcome, debug=debug)


def _print_outcome(out: Console, outcome: ProbeOutcome, *, debug: bool) -> None:
    for finding in outcome.findings:
        out.print(f"  {outcome.probe}: {finding.what}", soft_wrap=True)
        out.print(f"        {outcome.reason or finding.fix}", style="cyan", soft_wrap=True)
        if finding.shown_by:
            out.print(f"        {finding.shown_by}", soft_wrap=True)
    if debug and outcome.traceback:
        echo(outcome.traceback, err=True)
