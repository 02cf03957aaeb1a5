"""`gemx reproduce`: replay recorded episodes, and compare every byte."""

import difflib
import re
from pathlib import Path

import click

from gem.cli.options import as_json
from gem.cli.output import as_text, echo, print_json, stray_prints_to_stderr
from gem.core import Observation
from gem.episode import Episode
from gem.record import recording_at
from gem_eval.cli.recordings import MOST_LISTED, Replayed, count, numbered, title, trust
from gem_eval.replay import Difference, reproduce

_TARGET = re.compile(r"(?P<path>.+):(?P<number>[1-9][0-9]{0,17})", re.DOTALL)
MOST_LINES = 12
"""The most lines of a diff that are printed."""
LONGEST = 4000
"""The most characters of each."""


def _target(ctx: click.Context, param: click.Parameter, value: str) -> tuple[Path, int | None]:
    """A recording, `FILE` or a folder with one, or one of its episodes, `FILE:N`."""
    found = None if Path(value).exists() else _TARGET.fullmatch(value)
    path, only = (found["path"], int(found["number"])) if found else (value, None)
    if not recording_at(path).is_file():
        raise click.BadParameter(f"there is no file {str(recording_at(path))!r}.", ctx, param)
    return Path(path), only


@click.command("reproduce")
@click.argument("target", callback=_target, metavar="FILE[:N]")
@trust
@as_json
@click.pass_context
def reproduce_episodes(ctx: click.Context, *, target: tuple[Path, int | None], trust: bool, as_json: bool) -> None:
    """Play the recorded episodes of FILE again (or its N-th, counting from 1) and compare every byte.

    The environments are built again from id, arguments, wrappers and seed, and given the recorded actions. The exit
    status is 1 if an observation, a reward, a flag or a success differs. Without --trust, FILE can have built only
    what installed packs register, with its settings and wrappers.
    """
    path, only = target
    replayed = Replayed(path)
    differences: list[tuple[int, Episode, Difference]] = []
    with stray_prints_to_stderr():
        for number, record in replayed.of(numbered(path, only)):
            difference = reproduce(record, trust=trust)
            if difference is not None:
                differences.append((number, record, difference))
    same = replayed.episodes - replayed.failed - len(differences)
    if as_json:
        listed = [
            {"episode": number, "id": record.id, "seed": record.seed, **difference._asdict()}
            for number, record, difference in differences
        ]
        print_json({**replayed.as_json(), "same": same, "differences": listed})
    else:
        for number, record, difference in differences[:MOST_LISTED]:
            _print(number, record, difference)
        if len(differences) > MOST_LISTED:
            echo(f"… and {count(len(differences) - MOST_LISTED)} more that differ.")
        echo(f"{same} of {count(same + len(differences))} came out the same to the byte.")
        replayed.print_notes()
    if differences:
        ctx.exit(1)


def _print(number: int, record: Episode, difference: Difference) -> None:
    turn, what, recorded, replayed = difference
    where = f"turn {turn}" if turn else "the reset"
    echo(f"{title(number, record)}, {where}: {what}", fg="red")
    if what == "error":
        echo(f"  {replayed}")
    elif what == "observation":
        _print_diff(recorded, replayed)
    else:
        echo(f"  - {recorded!r:.{LONGEST}}\n  + {replayed!r:.{LONGEST}}")


def _print_diff(recorded: Observation, replayed: Observation) -> None:
    before, now = as_text(recorded).splitlines(), as_text(replayed).splitlines()
    lines = list(difflib.unified_diff(before, now, n=1, lineterm=""))[2:]
    # The difference may be in line ends or in parts that are not text.
    for line in lines[:MOST_LINES] or [f"- {recorded!r}", f"+ {replayed!r}"]:
        echo(f"  {line:.{LONGEST}}")
    if len(lines) > MOST_LINES:
        echo(f"  … and {len(lines) - MOST_LINES} more lines")
