"""`gemx list`: every environment of the installed packs."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from gem.cli.options import as_json
from gem.cli.output import console, echo, print_json, stray_prints_to_stderr, warn_of_failures
from gem.errors import did_you_mean
from gem.packs.discovery import OWN_PACKS, Pack, how_to_install, missing_owners
from gem.packs.hookspecs import EnvSource
from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec


@click.command("list")
@click.argument("pattern", required=False)
@click.option("--pack", metavar="NAME", help="Only those of this pack, such as gem-envs-games.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only those with this tag. May be repeated.")
@as_json
@click.pass_context
def list_envs(
    ctx: click.Context,
    pattern: str | None,
    pack: str | None,
    tags: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the environments.

    PATTERN is a namespace, such as `game`, a part of an id, such as `sudoku` or `game:*-easy`, or words of a
    description; if nothing matches, the exit status is 1. Ids of another library, such as `gymnasium:NAME`, are listed
    for their namespace only.
    """
    with stray_prints_to_stderr():
        sources = _sources(pattern, pack, tags)
        entries = [
            entry
            for entry in registry().entries(sources[0][0].namespace if pattern and sources else None)
            if (pattern is None or _matches(pattern, entry))
            and (pack is None or (entry.pack is not None and _spelt(pack) == _spelt(entry.pack.distribution)))
            and set(tags) <= set(entry.spec.tags)
        ]
    rows = [_row(spec.id, pack, spec, spec.tags) for spec, pack in entries]
    source_rows = [{**_row(source.form, pack, source), "namespace": source.namespace} for source, pack in sources]
    if as_json:
        print_json({"envs": rows, "sources": source_rows})
        return
    warn_of_failures(registry().packs)
    if not rows and not source_rows:
        echo("No environment of the installed packs matches.", err=True)
        _suggest(pattern, pack, tags)
        ctx.exit(1)
    else:
        console().print(_table(rows + source_rows))


def _spelt(distribution: str) -> str:
    """A distribution in the one of its spellings in which pip compares them."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _matches(pattern: str, entry: RegistryEntry) -> bool:
    spec = entry.spec
    if any(pattern in pack.namespaces for pack in registry().packs):
        return spec.id.startswith(f"{pattern}:")
    return fnmatchcase(spec.id.lower(), f"*{pattern.lower()}*") or pattern.lower() in spec.description.lower()


def _row(id: str, pack: Pack | None, of: EnvSpec | EnvSource, tags: Sequence[str] = ()) -> dict[str, Any]:
    owner, version = (pack.distribution, pack.version) if pack else (None, None)
    row = {"id": id, "pack": owner, "version": version, "description": of.description, "tags": list(tags)}
    return row | {"lacks": of.lacks if isinstance(of, EnvSpec) else ""}


def _sources(pattern: str | None, pack: str | None, tags: tuple[str, ...]) -> list[tuple[EnvSource, Pack]]:
    """Namespaces whose ids are looked up: all of them, or the one of the pattern."""
    return [
        (source, owner)
        for source, owner in registry().sources()
        if not tags
        and (pattern is None or pattern.partition(":")[0] == source.namespace)
        and (pack is None or _spelt(pack) == _spelt(owner.distribution))
    ]


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
                lacking = f" (needs {row['lacks']})" if row["lacks"] else ""
                table.add_row(f"  {row['id']}", row["description"] + lacking, ", ".join(row["tags"]))
    return table


def _suggest(pattern: str | None, pack: str | None, tags: tuple[str, ...]) -> None:
    installed = {pack.distribution for pack in registry().packs}
    known_tags = {tag for entry in registry().entries() for tag in entry.spec.tags}
    if pack is not None and _spelt(pack) not in map(_spelt, OWN_PACKS | installed):
        echo(f"There is no pack {pack!r} here.{did_you_mean(pack, installed)}", err=True)
    for tag in tags:
        if tag not in known_tags:
            echo(f"No environment has the tag {tag!r}.{did_you_mean(tag, known_tags)}", err=True)
    own = [pack] if pack in OWN_PACKS - installed else []
    for wanted in own or missing_owners((pattern or "").partition(":")[0], registry().packs):
        echo(f"{wanted} is not installed: {how_to_install(wanted)}", err=True)
