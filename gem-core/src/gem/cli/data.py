"""`gemx data`: where the rows of data sets come from, and whether they are on this machine."""

from collections.abc import Sequence
from typing import Any

import click

from gem.cli.options import arguments, as_json, parse_arguments
from gem.cli.output import (
    console,
    echo,
    facts,
    listing,
    print_json,
    print_waiting,
    stray_prints_to_stderr,
    warn_of_failures,
)
from gem.data import DataSource, Table
from gem.data.place import how_to_get, place
from gem.data.source import source_of
from gem.dataset_env import DatasetEnv, to_download
from gem.errors import ConfigError, GemError
from gem.packs.make import make
from gem.packs.registry import all_specs, get_spec, registry
from gem.packs.spec import EnvSpec


@click.command()
@click.argument("id", required=False)
@click.option("--download", is_flag=True, help="Download the rows, if they are not here.")
@arguments
@as_json
def data(id: str | None, download: bool, arguments: Sequence[str], as_json: bool) -> None:
    """Say where the rows of the environment ID come from, whether they are here, how many, and their licence.

    Without ID, list every environment on a data set. Nothing is downloaded but with --download.
    """
    if id is None:
        if download or arguments:
            raise ConfigError("--download and --arg need an ID")
        _list(as_json)
        return
    with stray_prints_to_stderr():
        described = _describe(get_spec(id), parse_arguments(arguments), download=download)
    if as_json:
        print_json(described)
    else:
        _print(described)


def _describe(spec: EnvSpec, arguments: dict[str, Any], *, download: bool) -> dict[str, Any]:
    with make(spec, **arguments) as env:
        asked: Any = env.unwrapped
        if not isinstance(asked, DatasetEnv):
            raise ConfigError(f"{spec.id!r} does not ask the rows of a data set; `gemx data` lists those that do")
        source = to_download(env)
        if source is not None and download:
            print_waiting(f"downloading {source}")
            source = None
        # Reads them, or says what is wrong with them.
        rows: Any = asked.rows if source is None else None
    given = asked.source
    return {
        "id": spec.id,
        **_of_source(given),
        "here": rows is not None,
        "rows": None if rows is None else len(rows),
        "columns": rows.columns if isinstance(rows, Table) else _expected(asked, given),
        "advice": how_to_get(source).replace("ID", spec.id) if source else None,
    }


def _expected(asked: Any, given: DataSource | None) -> dict[str, str]:
    columns = {**asked.columns, **(given.columns if given else {})}
    return {role: names if isinstance(names, str) else " or ".join(names) for role, names in columns.items()}


def _of_source(source: DataSource | None) -> dict[str, Any]:
    if source is None:
        return dict.fromkeys(("name", "kind", "config", "split", "path", "licence", "about"))
    path = place(source)
    return {
        **{name: getattr(source, name) for name in ("name", "config", "split", "licence", "about")},
        "kind": source.kind,
        "path": path and str(path),
    }


_KINDS = {
    "hub": "a data set of the Hugging Face hub",
    "file": "local files",
    "package": "a file of a package",
    "function": "what a function returns",
    None: "a table of the environment itself",
}


def _print(described: dict[str, Any]) -> None:
    out = console()
    out.print(described["id"], style="bold cyan", soft_wrap=True)
    if described["about"]:
        out.print(described["about"], soft_wrap=True)
    here = described["path"] or ("in this process" if described["kind"] != "hub" else "in the cache of datasets")
    shown = {
        "source": described["name"],
        "kind": _KINDS[described["kind"]],
        "configuration": described["config"],
        "split": described["split"],
        "licence": described["licence"] or ("not stated" if described["name"] else None),
        "here": f"yes, {here}" if described["here"] else "no",
        "rows": None if described["rows"] is None else f"{described['rows']:,}",
        "columns": ", ".join(f"{role} ← {column}" for role, column in described["columns"].items()),
    }
    out.print(facts(shown))
    if described["advice"]:
        out.print(described["advice"], soft_wrap=True)


def _list(as_json: bool) -> None:
    with stray_prints_to_stderr():
        rows = [_row(spec) for spec in all_specs() if "data" in spec.kwargs]
    if as_json:
        print_json({"data": rows})
        return
    warn_of_failures(registry().packs)
    table = listing("id", "source", "split", "licence", "here", header_style="bold")
    for row in rows:
        here = "yes" if row["here"] else "no"
        table.add_row(row["id"], row["name"], row["split"] or "", row["licence"] or "", here)
    if rows:
        console().print(table)
    else:
        echo("No environment of the installed packs is on a data set.", err=True)


def _row(spec: EnvSpec) -> dict[str, Any]:
    try:
        source = source_of(spec.kwargs["data"])
        path = source and place(source)
    except GemError:
        return {"id": spec.id, **_of_source(None), "here": False}
    here = source is None or source.kind == "function" or (path is not None and path.exists())
    return {"id": spec.id, **_of_source(source), "here": here}
