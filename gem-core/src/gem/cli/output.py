"""Output of the commands: tables and JSON on standard output, everything else on standard error.

Text of an env, a tool, a model, a pack or a recording may contain control characters for a terminal. So all output goes
through `printable`, in `echo` and in `Console`; ruff refuses any other way (TID251).
"""

import contextlib
import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import rich.console
from rich.segment import Segment

if TYPE_CHECKING:
    from rich.table import Table

from gem.core import Observation
from gem.packs.discovery import Pack

UNLIMITED = 10_000
"""The width of a table in a pipe, so that every row is one line for `grep`."""


@dataclass
class JsonOutput:
    """Sees to it that a command with --json prints one JSON object, even if it fails."""

    requested: bool
    """Whether --json was given."""
    printed: bool = False

    def print_error(self, error: str) -> None:
        """Print an object with the error, unless one has been printed."""
        if self.requested and not self.printed:
            self.printed = True
            with contextlib.suppress(OSError):  # such as a full disk
                print_json({"error": error})


_COMMANDS = re.compile(r"\r\n|[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 and C1 controls but tab and line feed, changes of text direction, and lone surrogates."""


def printable(text: str) -> str:
    r"""`text` with control characters escaped, as in `\x1b`, except tabs and line ends."""
    return _COMMANDS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\r\n" else found[0].encode("unicode_escape").decode()


def echo(text: object = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print `printable` text, by default on standard output; `style` as in `click.style`."""
    click.secho(printable(str(text)), err=err, nl=nl, **style)


class Console(rich.console.Console):
    """A console of rich that prints `printable` text, even inside tables and panels."""

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Segments with `control` come from rich, for example to redraw a progress bar.
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The reader of a pipe has what it wanted, as `head` does; rich would exit as for an error of ours."""
        raise BrokenPipeError(errno.EPIPE, "the reader has closed the pipe")


def console(*, stderr: bool = False) -> Console:
    """A console without markup, with the width of the terminal or of COLUMNS; `UNLIMITED` in a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else UNLIMITED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def facts(rows: Mapping[str, object]) -> "Table":
    """A table of names and their values, without those that are empty."""
    from rich.table import Table  # `gemx --help` does without

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            table.add_row(name, str(value))
    return table


def listing(*columns: str, **settings: Any) -> "Table":
    """A table with a row for each thing; the first column names it."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, **settings)
    for column in columns:
        first = column == columns[0]
        table.add_column(column, style="cyan" if first else None, no_wrap=first)
    return table


def print_waiting(for_what: str) -> None:
    """Print what the command waits for on standard error, if that is a terminal."""
    if sys.stderr.isatty():
        echo(f"{for_what} …", err=True)


def print_text(text: str) -> None:
    """Print text of an env on standard output, with line breaks between words in a terminal only."""
    shown = console()
    shown.print(text, soft_wrap=not shown.is_terminal)


def print_json(value: dict[str, Any]) -> None:
    """Print the one JSON object of a command. Values that are not JSON are printed as Python spells them."""
    echo(json.dumps(value, default=repr))
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(output := context.find_root().obj, JsonOutput):
        output.printed = True


def stray_prints_to_stderr() -> contextlib.redirect_stdout[Any]:
    """Redirect prints of packs and envs, so that they do not mix with the output of the command."""
    return contextlib.redirect_stdout(sys.stderr)


def as_text(observation: Observation) -> str:
    """An observation for the terminal; of a content part without text, its type."""
    text = (
        observation
        if isinstance(observation, str)
        else "\n".join(str(part.get("text", f"[{part.get('type', 'no type')}]")) for part in observation)
    )
    # UTF-8 cannot encode a lone surrogate, and JSON can.
    return text.encode(errors="backslashreplace").decode()


def warn_of_failures(packs: list[Pack]) -> None:
    """Print one line on standard error if packs have failed."""
    failed = [pack.distribution for pack in packs if pack.state == "failed"]
    if failed:
        echo(f"Left out, because they failed: {', '.join(failed)}. `gemx doctor` says why.", err=True)
