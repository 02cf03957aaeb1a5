"""`gemx floors`: the success of random play and of the expert on environments."""

from collections.abc import Sequence

import click

from gem.cli.output import print_json, print_waiting, stray_prints_to_stderr
from gem.testing.subject import find_entries
from gem_eval.results.floors import measure_floors


@click.command("floors")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--episodes", type=click.IntRange(min=1), default=100, show_default=True, help="How many of each, from seed 0 on."
)
def floors(*, names: Sequence[str], episodes: int) -> None:
    """Measure how often random play and the environment's own expert succeed.

    NAME is an id, a "module:Class", or a pack by its distribution or namespace. Prints JSON, in the form of the file
    floors.json of a pack; null where there is no expert, or where data or an extra are missing.
    """
    specs = {entry.spec.id: entry.spec for name in names for entry in find_entries(name)}
    with stray_prints_to_stderr():
        found = measure_floors(specs.values(), episodes, print_waiting)
    print_json({"episodes": episodes, "floors": found})
