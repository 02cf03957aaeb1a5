"""`gemx info`: the spec, the rules and the first observation of an environment."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, cast

import click

from gem.cli.options import arguments, as_json, parse_arguments
from gem.cli.output import as_text, console, facts, print_json, print_text, stray_prints_to_stderr
from gem.data.place import how_to_get
from gem.dataset_env import to_download
from gem.errors import MissingArgument
from gem.packs.make import bind, checked_class, import_env, make
from gem.packs.registry import RegistryEntry, registry

SEED = 0
"""The seed of the observation that is shown."""


@click.command()
@click.argument("id")
@arguments
@as_json
def info(id: str, arguments: Sequence[str], as_json: bool) -> None:
    """Describe the environment ID: its arguments, its rules and what an agent sees first."""
    with stray_prints_to_stderr():
        entry = registry().find(id)
        given = parse_arguments(arguments)
        described = _describe(entry._replace(spec=bind(entry.spec, **given)))
        described["rules"] = inspect.cleandoc(import_env(entry.spec).__doc__ or "")
        described |= _first_observation(entry, given)
    if as_json:
        print_json(described)
    else:
        _print(described)


def _first_observation(entry: RegistryEntry, given: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent sees first, or why it cannot be shown."""
    if lacks := entry.spec.lacks:
        return {"observation": None, "unavailable": f"It needs {lacks}."}
    try:
        checked_class(bind(entry.spec, **given))
    except MissingArgument as error:
        if given:
            raise
        return {"observation": None, "unavailable": f"{error} Arguments are given with --arg."}
    with make(entry.spec, **given) as env:
        source = to_download(env)
        if source is None:
            return {"observation": as_text(env.reset(seed=SEED)[0])}
        advice = how_to_get(source).replace("ID", entry.spec.id)
        return {"observation": None, "unavailable": f"The rows of {source} are not on this machine. {advice}"}


def _describe(entry: RegistryEntry) -> dict[str, Any]:
    spec, pack = entry.spec, entry.pack
    return {
        "id": spec.id,
        "description": spec.description,
        "pack": pack.distribution if pack else None,
        "version": pack.version if pack else None,
        "entry_point": spec.entry_point,
        # max_turns may be among the kwargs.
        "max_turns": spec.kwargs.get("max_turns", spec.max_turns),
        "kwargs": dict(spec.kwargs),
        "tags": list(spec.tags),
        "extra": spec.extra,
        "lacks": spec.lacks,
        "notes": list(spec.notes),
    }


def _shown(name: str, value: Any) -> str:
    if name == "data" and isinstance(value, Mapping):  # `gemx data` tells the rest
        named = cast("Mapping[str, Any]", value).items()
        value = {field: each for field, each in named if field not in ("licence", "about")}
    return f"{name}={value!r}"


def _print(described: dict[str, Any]) -> None:
    out = console()
    rows = {
        "pack": f"{described['pack']} {described['version']}" if described["pack"] else "none",
        "class": described["entry_point"],
        "arguments": ", ".join(_shown(name, value) for name, value in described["kwargs"].items()) or "none",
        "turn limit": described["max_turns"] or "the environment's own",
        "tags": ", ".join(described["tags"]) or "none",
        "notes": "\n".join(described["notes"]),
        "needs": described["extra"] and f"pip install '{described['extra']}'",
    }
    out.print(described["id"], style="bold cyan", soft_wrap=True)
    if described["description"]:
        out.print(described["description"], soft_wrap=True)
    out.print()
    out.print(facts(rows))
    for title, text in (("Rules", described["rules"]), (f"First observation, seed {SEED}", described["observation"])):
        if text:
            out.print(f"\n{title}", style="bold")
            print_text(text)
    if "unavailable" in described:
        out.print(f"\n{described['unavailable']}", soft_wrap=True)
