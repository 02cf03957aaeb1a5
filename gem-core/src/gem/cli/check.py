"""`gemx check`: whether environments keep the contract."""

from collections.abc import Sequence
from typing import Any

import click

from gem.cli.options import POSITIVE, as_json, role, role_models
from gem.cli.output import Console, console, echo, print_json, stray_prints_to_stderr
from gem.llm.models import use_models
from gem.packs.registry import RegistryEntry
from gem.testing.checks import CHECKS, CheckOutcome, summary
from gem.testing.guard import LIMIT, Guard
from gem.testing.subject import EPISODES, find_entries

_WORDS = {"passed": ("pass", "green"), "failed": ("FAIL", "bold red"), "skipped": ("skip", "yellow")}


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=EPISODES,
    show_default=True,
    help="How many each check plays; the check of the expert plays four times as many.",
)
@click.option(
    "--timeout",
    type=POSITIVE,
    default=LIMIT,
    show_default=True,
    help="The time limit of each check, in seconds.",
)
@role
@as_json
@click.pass_context
def check(
    ctx: click.Context, *, names: Sequence[str], episodes: int, timeout: float, roles: Sequence[str], as_json: bool
) -> None:
    """Check that environments keep the contract.

    NAME is an id, a "module:Class", or a pack by its distribution or namespace. Prints a line for each environment, and
    each check of one that failed any, with what happened and how to fix it. The exit status is 1 if any check failed.
    """
    entries = {entry.spec.id: entry for name in names for entry in find_entries(name)}
    debug: bool = ctx.find_root().params["debug"]
    found: dict[str, list[CheckOutcome]] = {}
    with use_models(role_models(roles)), Guard(timeout) as guard:
        for id, entry in entries.items():
            found[id] = _check(guard, entry, episodes, quiet=as_json, debug=debug)
    outcomes = [outcome for each in found.values() for outcome in each]
    failed = sum(outcome.state == "failed" for outcome in outcomes)
    if as_json:
        print_json({"ok": not failed, "envs": [_as_json(entries[id], each) for id, each in found.items()]})
    else:
        counts = {state: sum(outcome.state == state for outcome in outcomes) for state in _WORDS}
        counted = ", ".join(f"{count} {state}" for state, count in counts.items())
        envs = "1 environment" if len(entries) == 1 else f"{len(entries)} environments"
        console().print(f"{envs}: {counted}", style="bold red" if failed else "bold green")
    if failed:
        ctx.exit(1)


def _check(guard: Guard, entry: RegistryEntry, episodes: int, *, quiet: bool, debug: bool) -> list[CheckOutcome]:
    """The outcome of every check, printed when the last has ended."""
    outcomes: list[CheckOutcome] = []
    with console().status("") as status:
        for name in CHECKS:
            status.update(f"{entry.spec.id}: {name}")
            with stray_prints_to_stderr():
                outcomes.append(guard.run(name, entry, episodes))
    if not quiet:
        _print_env(entry.spec.id, outcomes, debug=debug)
    return outcomes


def _print_env(id: str, outcomes: Sequence[CheckOutcome], *, debug: bool) -> None:
    out = console()
    failed, passed = (sum(outcome.state == state for outcome in outcomes) for state in ("failed", "passed"))
    skipped: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.state == "skipped":
            skipped.setdefault(outcome.what, []).append(outcome.check)
    word, style = _WORDS["failed" if failed else "passed" if passed else "skipped"]
    out.print(word, style=style, end="")
    notes = "" if failed else "".join(f"; {', '.join(names)} skipped: {why}" for why, names in skipped.items())
    counted = f"{passed} of {len(outcomes)} checks passed{notes}" if failed or passed else next(iter(skipped))
    out.print(f"  {id}  {counted}", soft_wrap=True)
    alike: dict[tuple[str, ...], list[CheckOutcome]] = {}
    for outcome in outcomes if failed else ():  # an env that cannot be made fails nearly all checks for one reason
        reason = (outcome.what, outcome.fix) if outcome.state == "failed" else (outcome.check,)
        alike.setdefault(reason, []).append(outcome)
    for each in alike.values():
        _print(out, each, debug=debug)


def _print(out: Console, alike: Sequence[CheckOutcome], *, debug: bool) -> None:
    outcome = alike[0]
    word, style = _WORDS[outcome.state]
    note = f" ({outcome.what})" if outcome.state == "skipped" else ""
    names = ", ".join(each.check for each in alike)
    out.print(f"  {word}", style=style, end="")
    out.print(f"  {names:14} {summary(outcome.check)}{note}" if len(alike) == 1 else f"  {names}", soft_wrap=True)
    if outcome.state == "failed":
        out.print(f"        {outcome.what}", soft_wrap=True)
        out.print(f"        {outcome.fix}", style="cyan", soft_wrap=True)
    if debug and outcome.traceback:
        echo(outcome.traceback, err=True)


def _as_json(entry: RegistryEntry, outcomes: Sequence[CheckOutcome]) -> dict[str, Any]:
    return {
        "id": entry.spec.id,
        "pack": entry.pack.distribution if entry.pack else None,
        "checks": [{"check": each.check, "state": each.state, "what": each.what, "fix": each.fix} for each in outcomes],
    }
