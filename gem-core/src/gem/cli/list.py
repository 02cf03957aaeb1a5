"""`gemx list`: every environment of the installed packs."""

from fnmatch import fnmatchcase
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from gem.cli.options import as_json
from gem.cli.output import console, echo, print_json, stray_prints_to_stderr, warn_of_failures
from gem.packs.discovery import OWN_PACKS, how_to_install, missing_owners
from gem.packs.registry import RegistryEntry, registry


@click.command("list")
@click.argument("pattern", required=False)
@click.option("--pack", metavar="NAME", help="Only those of this pack, such as gem-envs-games.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only those with this tag. May be repeated.")
@as_json
def list_envs(pattern: str | None, pack: str | None, tags: tuple[str, ...], as_json: bool) -> None:
    """List the environments.

    PATTERN is a namespace, such as `game`, or a part of an id, such as `sudoku` or `game:*-easy`.
    """
    with stray_prints_to_stderr():
        entries = registry().entries()
    rows = [
        _row(entry)
        for entry in entries
        if (pattern is None or _matches(pattern, entry.spec.id))
        and (pack is None or (entry.pack is not None and pack == entry.pack.distribution))
        and set(tags) <= set(entry.spec.tags)
    ]
    if as_json:
        print_json({"envs": rows})
        return
    warn_of_failures(registry().packs)
    if rows:
        console().print(_table(rows))
    else:
        echo("No environment of the installed packs matches.", err=True)
        _suggest(pattern, pack)


def _matches(pattern: str, id: str) -> bool:
    if any(pattern in pack.namespaces for pack in registry().packs):
        return id.startswith(f"{pattern}:")
    return fnmatchcase(id.lower(), f"*{pattern.lower()}*")


def _row(entry: RegistryEntry) -> dict[str, Any]:
    return {
        "id": entry.spec.id,
        "pack": entry.pack.distribution if entry.pack else None,
        "version": entry.pack.version if entry.pack else None,
        "description": entry.spec.description,
        "tags": list(entry.spec.tags),
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("id", style="cyan", no_wrap=True)
    table.add_column("description")
    table.add_column("tags", style="dim")
    packs = dict.fromkeys((row["pack"], row["version"]) for row in rows)
    for number, (pack, version) in enumerate(packs):
        if number:
            table.add_row()
        table.add_row(Text(f"{pack} {version}", style="bold default"))
        for row in rows:
            if row["pack"] == pack:
                table.add_row(f"  {row['id']}", row["description"], ", ".join(row["tags"]))
    return table


def _suggest(pattern: str | None, pack: str | None) -> None:
    installed = {pack.distribution for pack in registry().packs}
    own = [pack] if pack in OWN_PACKS - installed else []
    for wanted in own or missing_owners((pattern or "").partition(":")[0], registry().packs):
        echo(f"{wanted} is not installed: {how_to_install(wanted)}", err=True)
