"""`gemx audit`: whether tasks of environments can be believed."""

from collections.abc import Sequence

import click

from gem import audit as auditing
from gem.audit.auditing import LIMIT
from gem.audit.card import Card, ProbeOutcome
from gem.cli.options import POSITIVE, as_json, role, role_models
from gem.cli.output import Console, console, echo, print_json, stray_prints_to_stderr
from gem.llm.models import use_models

_WORDS = {
    "sound": ("sound", "green"),
    "found": ("FOUND", "bold red"),
    "known": ("known", "cyan"),
    "skipped": ("skip", "yellow"),
}


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--probe", "probes", multiple=True, metavar="PROBE", help="Run this probe only. Repeatable.")
@click.option(
    "--timeout", type=POSITIVE, default=LIMIT, show_default=True, help="The time limit of each probe, in seconds."
)
@role
@as_json
@click.pass_context
def audit(
    ctx: click.Context,
    *,
    names: Sequence[str],
    probes: Sequence[str],
    timeout: float,
    roles: Sequence[str],
    as_json: bool,
) -> None:
    """Ask whether the tasks of environments can be believed.

    NAME is an id, a "module:Class", or a pack by its distribution or namespace. Probes play each environment as a cheat
    would: what silence, a constant or a guess earns, whether the answer is shown, whether the right one is accepted.
    Prints a line for each environment, and what was found, with a seed and actions that show it. The exit status is 1
    if anything was found that the spec does not explain (known_findings).
    """
    debug: bool = ctx.find_root().params["debug"]
    cards: list[Card] = []
    status = console(stderr=True).status("")
    with use_models(role_models(roles)), status, stray_prints_to_stderr():
        found = auditing.audit(
            *names, only=probes, limit=timeout, say=lambda name, probe: status.update(f"{name}: {probe}")
        )
        for card in found:
            cards.append(card)
            if not as_json:
                _print(console(), card, debug=debug)
    unsound = sum(not card.sound for card in cards)
    if as_json:
        print_json({"ok": not unsound, "cards": [card.as_json() for card in cards]})
    else:
        envs = "1 environment" if len(cards) == 1 else f"{len(cards)} environments"
        console().print(f"{envs}: {len(cards) - unsound} sound", style="bold red" if unsound else "bold green")
    if unsound:
        ctx.exit(1)


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
        if finding.seed is not None:
            replies = ", ".join(map(_shortened, finding.actions[:3])) + (" …" if len(finding.actions) > 3 else "")
            out.print(f"        seed {finding.seed}{f', actions {replies}' if replies else ''}", soft_wrap=True)
    if debug and outcome.traceback:
        echo(outcome.traceback, err=True)


def _shortened(action: str) -> str:
    shown = repr(action)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"
