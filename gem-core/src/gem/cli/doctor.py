"""`gemx doctor`: the state of every pack, how to fix failures, and diagnostics."""

import platform
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from msgspec import convert
from msgspec.structs import asdict

import gem_core
from gem import __version__
from gem.cli.entry_points import Offer, offers
from gem.cli.isolated import Answer, IsolatedCalls
from gem.cli.options import as_json
from gem.cli.output import console, echo, listing, print_json, stray_prints_to_stderr
from gem.cli.slow_packs import ended
from gem.cli.tampering import Tampering
from gem.packs.discovery import KNOWN_PACKS, Pack, how_to_install, missing_owners
from gem.packs.hookspecs import Diagnostic
from gem.packs.importing import import_object
from gem.packs.registry import registry

_STYLES = {
    "failed": "bold red",
    "faulty": "bold red",
    "not checked": "bold yellow",
    "disabled": "yellow",
    "not installed": "bold",
}
"""The states that are explained, and their styles."""


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=8.0, show_default=True, help="Time for all checks together."
)
@as_json
@click.pass_context
def doctor(ctx: click.Context, seconds: float, as_json: bool) -> None:
    """Check every installed pack and what it depends on, and say how to fix what is broken.

    A pack is faulty if some of what its tables name cannot be imported or used; to find out, all of it is imported, for
    some seconds at most. The exit status is 1 if any pack failed or is faulty, and not for what was not checked in that
    time. `gemx --debug doctor` shows the tracebacks.
    """
    until = time.monotonic() + seconds
    registry().loading = partial(ended, until)
    with stray_prints_to_stderr():
        packs = registry().load()
        given = [offers(pack) for pack in packs]
        # This process looks at the packs first: on a busy machine the checks would take the processor from it.
        tampering = Tampering(packs)
        changed = [tampering.of(pack, each) for pack, each in zip(packs, given, strict=True)]
        clash = gem_core.find_clash()
        offered = dict.fromkeys(item for pack in packs for item in pack.diagnostics.items())
        running = [(name, IsolatedCalls("gem.cli.doctor:diagnose", [at])) for name, at in offered]
        imports = [IsolatedCalls("gem.cli.entry_points:fault", each) if each else None for each in given]
        checked = [each.answers(until) if each else [] for each in imports]
        rows = [_row(*each, clash) for each in zip(packs, given, checked, changed, strict=True)] + _missing(packs)
        diagnostics = [(name, _diagnostic(each.answers(until))) for name, each in running]
        for each in (*filter(None, imports), *(each for _, each in running)):  # they end at the same time
            each.close()
    failed = [row for row in rows if row["state"] in ("failed", "faulty")]
    if as_json:
        report = {"ok": not failed, "gem": __version__, "python": platform.python_version(), "packs": rows}
        shown = [{"name": name, **asdict(diagnostic)} for name, diagnostic in diagnostics]
        print_json(report | {"diagnostics": shown})
    else:
        _print(rows, diagnostics)
    for pack in packs if ctx.find_root().params["debug"] else ():
        if pack.state == "failed":
            echo(f"\n{pack.distribution}:\n{pack.traceback or pack.reason}", err=True)
    if failed:
        ctx.exit(1)


def diagnose(entry_point: str) -> dict[str, Any]:
    """The fields of a diagnostic."""
    return asdict(convert(import_object(entry_point)(), Diagnostic))


def _diagnostic(answers: list[Answer]) -> Diagnostic:
    if not answers:
        return Diagnostic(status="not checked", ok=False, details=("it had not ended by then",))
    [answer] = answers
    if answer.error is not None:
        return Diagnostic(status="this diagnostic failed", ok=False, details=(answer.error,))
    return convert(answer.returned, Diagnostic)


def _row(
    pack: Pack, offered: list[Offer], answers: list[Answer], changed: list[str], clash: list[str]
) -> dict[str, Any]:
    found = [answer.error or answer.returned for answer in answers]
    faulty = [*changed, *(f"{offer.what}: {fault}" for offer, fault in zip(offered, found, strict=False) if fault)]
    unchecked = [_unchecked(left)] if (left := offered[len(answers) :]) else []
    fix = how_to_install(pack.distribution, "--upgrade") if faulty else pack.fix
    if pack.distribution == gem_core.OWN and clash:
        faulty, fix = [gem_core.reason(clash)], gem_core.fix(clash)
    return {
        "pack": pack.distribution,
        "version": pack.version,
        "state": "faulty" if faulty else "not checked" if unchecked else pack.state,
        "namespaces": list(pack.namespaces),
        "envs": len(pack.envs),
        "seconds": round(pack.seconds, 4),
        "reason": "; ".join([*faulty, *unchecked]) or pack.reason,
        "lacks": {spec.id: spec.lacks for spec in pack.envs if spec.lacks},
        "fix": fix,
    }


def _unchecked(offered: list[Offer]) -> str:
    more = f" and {len(offered) - 1} more" if len(offered) > 1 else ""
    return f"the time was up before this could be imported (--seconds gives more): {offered[0].what}{more}"


def _missing(packs: list[Pack]) -> list[dict[str, Any]]:
    """The known packs that are not installed."""
    namespaces: dict[str, list[str]] = {}
    for namespace in KNOWN_PACKS:
        for distribution in missing_owners(namespace, packs):
            namespaces.setdefault(distribution, []).append(namespace)
    nothing: dict[str, Any] = {
        "version": None,
        "state": "not installed",
        "envs": 0,
        "seconds": 0.0,
        "reason": None,
        "lacks": {},
    }
    return [
        {"pack": distribution, "namespaces": names, "fix": how_to_install(distribution), **nothing}
        for distribution, names in namespaces.items()
    ]


def _print(rows: list[dict[str, Any]], diagnostics: Sequence[tuple[str, Diagnostic]]) -> None:
    out = console()
    out.print(f"gem-core {__version__}, Python {platform.python_version()}\n")
    table = listing("pack", "version", "state", "namespaces", "envs", "import", header_style="bold")
    for row in (row for row in rows if row["version"] is not None):
        names, took = " ".join(row["namespaces"]), f"{row['seconds'] * 1000:.0f} ms"
        shown = (row["pack"], row["version"], row["state"], names, str(row["envs"]), took)
        table.add_row(*shown, style=_STYLES.get(row["state"]))
    out.print(table)
    for state, style in _STYLES.items():
        chosen = [row for row in rows if row["state"] == state]
        if chosen:
            out.print(f"\n{state.capitalize()}", style=style)
        for row in chosen:
            provides = f"provides {', '.join(row['namespaces'])}"
            out.print(f"  {row['pack']}: {row['reason'] or provides}", soft_wrap=True)
            if row["fix"]:
                out.print(f"    {row['fix']}", style="cyan", soft_wrap=True)
    lacking = [item for row in rows for item in row["lacks"].items()]
    if lacking:
        out.print("\nNot playable here", style="yellow")
    for id, lacks in lacking:
        out.print(f"  {id} needs {lacks}", soft_wrap=True)
    for name, diagnostic in diagnostics:
        out.print(f"\n{name.capitalize()}: {diagnostic.status}", style="" if diagnostic.ok else "bold yellow")
        for line in diagnostic.details:
            out.print(f"  {line}", soft_wrap=True)
