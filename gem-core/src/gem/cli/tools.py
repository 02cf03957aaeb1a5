"""`gemx tools`: the tools of the installed packs, and the description that an agent gets of one."""

import inspect
from typing import Any

import click

from gem.cli.options import as_json, components
from gem.cli.output import console, echo, listing, print_json, stray_prints_to_stderr, warn_of_failures
from gem.errors import Fault, GemError
from gem.packs.component_ref import name_and_settings
from gem.packs.discovery import how_to_install, missing_owners
from gem.packs.lookup import find_tools, tool_settings
from gem.packs.registry import registry
from gem.tool import FORMATS, Tool, find_format


@click.command()
@click.argument("name", required=False)
@click.option(
    "--format",
    "call_format",
    type=click.Choice(list(FORMATS)),
    default="auto",
    show_default=True,
    help="How a call of NAME looks.",
)
@as_json
def tools(name: str | None, call_format: str, as_json: bool) -> None:
    """List the tools of the installed packs, or show the description of the tool NAME for an agent.

    NAME is what --tools of `gemx eval` takes: a name, several, or JSON with settings.
    """
    if name is None:
        _list(as_json)
        return
    found: list[Tool] = []
    settings: dict[str, dict[str, Any]] = {}
    with stray_prints_to_stderr():
        for component in components("NAME", name):
            each, chosen = name_and_settings(component)
            found += find_tools(each, **chosen)
            settings[each] = tool_settings(each)
    if as_json:
        described = [{name: getattr(tool, name) for name in ("name", "description", "parameters")} for tool in found]
        print_json({"tools": described})
        return
    by_name = {tool.name: tool for tool in found}
    echo(find_format(call_format).for_tools(by_name).describe(by_name))
    for each, known in settings.items():
        if known:
            text = ", ".join(
                key if value is inspect.Parameter.empty else f"{key}={value!r}" for key, value in known.items()
            )
            echo(f"\nSettings of {each}: {text}", dim=True)


def _list(as_json: bool) -> None:
    with stray_prints_to_stderr():
        packs = {name: pack.distribution for pack in registry().load() for name in pack.tools}
        rows = [_row(name, packs[name]) for name in sorted(packs)]
    if as_json:
        print_json({"tools": rows})
        return
    warn_of_failures(registry().packs)
    if not rows:
        owners = [f"{owner} has some: {how_to_install(owner)}" for owner in missing_owners("tools", registry().packs)]
        echo("; ".join(["No installed pack has tools", *owners]), err=True)
        return
    table = listing("tool", "pack", "description")
    for row in rows:
        table.add_row(row["name"], row["pack"], row["description"] or row["needs"])
    console().print(table)


def _row(name: str, pack: str) -> dict[str, Any]:
    """The first line of the description, or what the tool needs: a setting or a library."""
    described = needs = None
    try:
        described = " ".join(tool.description.partition("\n")[0] for tool in find_tools(name))
    except (GemError, Fault, ImportError) as error:
        needs = str(error)
    return {"name": name, "pack": pack, "description": described, "needs": needs}
