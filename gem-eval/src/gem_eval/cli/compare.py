"""`gemx compare`: two recordings of the same items, and whether their difference is more than chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from gem.cli.options import as_json
from gem.cli.output import console, echo, print_json
from gem.episode import Episode
from gem.errors import RecordError
from gem_eval.cli.recordings import Replayed, numbered
from gem_eval.comparison import Comparison, attempts_by_item, compare

ALL = "all"
"""The row of all ids together, where there are several."""

Items = Mapping[str, Sequence[Episode]]

_file = click.Path(exists=True, path_type=Path)


@click.command("compare")
@click.argument("first", type=_file)
@click.argument("second", type=_file)
@as_json
def compare_recordings(*, first: Path, second: Path, as_json: bool) -> None:
    """Compare two evaluations (folders) or recordings of the same items, such as those of two models.

    An item is an id with a seed, or with a row of a data set; only items that both files hold are compared. The
    difference, SECOND minus FIRST, has a 95% interval, and p: how often as large a difference arises by chance.
    """
    notes = [Replayed(first), Replayed(second)]
    one, other = (attempts_by_item(episode for _, episode in note.of(numbered(note.path))) for note in notes)
    if not one.keys() & other.keys():
        raise RecordError(
            f"{first} and {second} share no item. Play both from the same seed with the same options: "
            "`gemx eval ID --seed 0 --out FOLDER`."
        )
    found = _by_id(one, other)
    left_out = len(one.keys() ^ other.keys())
    if as_json:
        rows = {id: {name: _plain(comparison) for name, comparison in row.items()} for id, row in found.items()}
        print_json({"first": str(first), "second": str(second), "items_left_out": left_out, "ids": rows})
        return
    for id, row in found.items():
        console().print(f"{id}, {row['success'].items} items", style="bold")
        console().print(_table(row))
    if left_out:
        echo(f"{left_out} items are in one of the files only, and were left out.", fg="yellow", err=True)
    for note in notes:
        note.print_notes()


def _by_id(one: Items, other: Items) -> dict[str, dict[str, Comparison]]:
    """Id → success and return compared, and a row for all ids together if there are several."""
    ids = sorted({episodes[0].id for item, episodes in one.items() if item in other})
    chosen: dict[str, list[str]] = {id: [item for item in one if one[item][0].id == id] for id in ids}
    if len(ids) > 1:
        chosen[ALL] = list(one)
    return {
        id: {
            "success": compare(*({item: _successes(each.get(item, ())) for item in items} for each in (one, other))),
            "return": compare(*({item: _returns(each.get(item, ())) for item in items} for each in (one, other))),
        }
        for id, items in chosen.items()
    }


def _successes(episodes: Sequence[Episode]) -> list[float]:
    return [float(episode.success) for episode in episodes]


def _returns(episodes: Sequence[Episode]) -> list[float]:
    return [episode.total_reward for episode in episodes]


def _plain(comparison: Comparison) -> dict[str, Any]:
    fields = asdict(comparison)
    low, high = comparison.interval
    return fields | {"interval": None if math.isnan(low) else [low, high]}


def _table(row: Mapping[str, Comparison]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", min_width=7)
    for name in ("first", "second", "difference (95%)", "p", "better", "worse"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, each in row.items():
        low, high = each.interval
        interval = "" if math.isnan(low) else f" ({low:+.3f} to {high:+.3f})"
        table.add_row(
            name,
            f"{each.first:.3f}",
            f"{each.second:.3f}",
            f"{each.difference:+.3f}{interval}",
            f"{each.p:.4f}" if each.p >= 0.0001 else "<0.0001",
            str(each.better),
            str(each.worse),
        )
    return table
