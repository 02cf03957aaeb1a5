"""`gemx tools`: the tools of the installed packs, and one of them as an agent is told of it."""

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from gem.cli.options import as_json
from gem.cli.output import console, print_json, stray_prints_to_stderr, warn_of_failures
from gem.errors import GemError
from gem.registry import find_tools, registry
from gem.tool import FORMATS, find_format


@click.command()
@click.argument("name", required=False)
@click.option(
    "--format",
    "call_format",
    type=click.Choice(list(FORMATS)),
    default="tags",
    show_default=True,
    help="How a call of NAME looks.",
)
@as_json
def tools(name: str | None, call_format: str, as_json: bool) -> None:
    """List the tools of the installed packs, or show what an agent is told of the tool NAME.

    `gemx run ID --tools NAME` and `gem.ToolEnv` put tools around an environment.
    """
    with stray_prints_to_stderr():
        packs = {each: pack.distribution for pack in registry().load() for each in pack.tools}
        found = find_tools(name) if name is not None else []
        rows = [] if name is not None else [_row(each, packs[each]) for each in sorted(packs)]
    if name is None:
        if as_json:
            print_json({"tools": rows})
            return
        warn_of_failures(registry().packs)
        console().print(_table(rows))
    elif as_json:
        print_json(
            {
                "tools": [
                    {"name": each.name, "description": each.description, "parameters": each.parameters}
                    for each in found
                ]
            }
        )
    else:
        click.echo(find_format(call_format).describe({each.name: each for each in found}))


def _row(name: str, pack: str) -> dict[str, Any]:
    """A tool that cannot be had as it is, for want of a setting or of a library, says so itself."""
    try:
        descriptions = [tool.description for tool in find_tools(name)]
    except (GemError, ImportError) as error:
        return {"name": name, "pack": pack, "description": None, "needs": str(error)}
    return {"name": name, "pack": pack, "description": " ".join(descriptions), "needs": None}


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("tool", style="cyan", no_wrap=True)
    table.add_column("pack", style="dim", no_wrap=True)
    table.add_column("description")
    for row in rows:
        said = row["description"] or Text(row["needs"], style="dim")
        table.add_row(row["name"], row["pack"], said.partition("\n")[0] if isinstance(said, str) else said)
    return table
