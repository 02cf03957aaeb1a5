"""`gemx export`: recorded episodes as a data set for trainers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click

from gem.cli.options import as_json
from gem.cli.output import echo, print_json, stray_prints_to_stderr
from gem.episode import Episode
from gem.episode.pictures import FOLDER, Pictures
from gem.errors import RecordError
from gem.record import recording_at
from gem_eval.cli.recordings import Replayed, count, note, numbered
from gem_eval.export import Export, ExportFormat, write_json_lines, write_parquet

_ONE_PART = 10 << 20
"""Bytes of JSON lines that `datasets` reads at once, if it is not told otherwise."""


@click.command("export")
@click.argument(
    "recordings", metavar="RECORDING…", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option("--format", "format_", type=click.Choice(get_args(ExportFormat)), required=True, help="See above.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE", help="Where to write it."
)
@click.option("--success", is_flag=True, help="Only episodes with success (dpo: of the chosen ones).")
@click.option("--min-return", type=float, help="Only those with at least this return (likewise).")
@click.option("--reasoning", is_flag=True, help="With what a model wrote before its replies, as reasoning_content.")
@as_json
def export_episodes(
    *,
    recordings: Sequence[Path],
    format_: ExportFormat,
    out: Path,
    success: bool,
    min_return: float | None,
    reasoning: bool,
    as_json: bool,
) -> None:
    """Write recorded episodes as a data set that `datasets.load_dataset` reads.

    RECORDING is a file, or the folder of an evaluation or a training run. Formats: `sft` has conversations; `dpo` has
    pairs of attempts at the same item, of which one did better; `messages` has conversations with rewards and all else
    that is known; `parquet` has the same. Failed episodes are never exported.
    """
    export = Export(format_, success, min_return, reasoning)
    replayed = [Replayed(path) for path in recordings]
    write = write_parquet if format_ == "parquet" else write_json_lines
    with stray_prints_to_stderr():
        rows = write(out, export.rows(_records(replayed)))
    if not rows:
        raise RecordError(_nothing(export, replayed))
    if as_json:
        left_out = {"failed": sum(each.failed for each in replayed), "unwanted": export.unwanted, "cut": export.cut}
        print_json({"out": str(out), "format": format_, "rows": rows, "left_out": left_out})
        return
    echo(f"{out}: {rows} {'row' if rows == 1 else 'rows'}; {_reader(out, format_)} reads it")
    for each in replayed:
        each.print_notes()
    for left_out, why in ((export.unwanted, "--success and --min-return"), (export.cut, "a reply that was cut off")):
        if left_out:
            note(f"{count(left_out)} left out because of {why}.")


def _reader(out: Path, format_: ExportFormat) -> str:
    """The call of `datasets` that reads a file."""
    size = out.stat().st_size
    # It takes the types of columns from the first part, and misreads or refuses what comes later with others.
    whole = f", chunksize={size + 1}" if format_ != "parquet" and size > _ONE_PART else ""
    return f"load_dataset({'parquet' if format_ == 'parquet' else 'json'!r}, data_files={str(out)!r}{whole})"


def _records(replayed: Sequence[Replayed]) -> Iterator[tuple[str, Episode]]:
    for each in replayed:
        pictures = Pictures(recording_at(each.path).with_name(FOLDER))
        for number, record in each.of(numbered(each.path)):
            yield f"{each.path}:{number}", pictures.put_into(record)


def _nothing(export: Export, replayed: Sequence[Replayed]) -> str:
    """Why there is no row, and what to do."""
    episodes, failed = sum(each.episodes for each in replayed), sum(each.failed for each in replayed)
    found = f"of {count(episodes)}, {failed} failed, {export.cut} have a reply that was cut off"
    if export.unwanted:
        return f"nothing to export: {found}, and the others do not meet --success and --min-return; ask for less"
    if export.format == "dpo":
        return (
            f"there is no pair: {found}, and no two of the others are attempts at the same item that part at a "
            "reply and have different outcomes. Record several attempts at each item, `gemx eval ID --k 8 --out "
            "FOLDER`, or export the recordings of two models together"
        )
    return f"nothing to export: {found}"
