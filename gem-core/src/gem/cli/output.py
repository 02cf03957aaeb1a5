"""What the commands print with: tables and JSON on standard output, everything else on standard error.

A terminal takes some characters for commands: they move the cursor, clear the screen, fill the clipboard, or turn text
around; and what an env, a tool, a model, a pack or a recording says may hold them. So whatever is printed goes through
`printable`, in `echo` and in the `Console`; ruff refuses every other way out (TID251).
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TextIO

import click
import rich.console
from rich.segment import Segment

from gem.core import Observation
from gem.packs.discovery import Pack

UNLIMITED = 10_000
"""Columns of a table that goes into a pipe, so that every row stays on one line for `grep`."""


@dataclass
class JsonOutput:
    """That one JSON object is printed, whatever happens."""

    requested: bool
    """Whether it was: with --json."""
    printed: bool = False

    def print_error(self, error: str) -> None:
        """Print the object that says what went wrong, unless there is one already."""
        if self.requested and not self.printed:
            self.printed = True
            with contextlib.suppress(OSError):  # a full disk, which is then what there is to say
                print_json({"error": error})


_COMMANDS = re.compile(r"\r\n|[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""The C0 and C1 controls but for tab and line feed, what turns the direction of text, and halves of surrogate pairs."""


def printable(text: str) -> str:
    r"""`text` with every character that a terminal takes for a command spelt out, as in `\x1b`.

    Tabs and line ends are kept.
    """
    return _COMMANDS.sub(_spelt, text)


def _spelt(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\r\n" else found[0].encode("unicode_escape").decode()


def echo(text: object = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print `printable` text, by default on standard output; `style` is as `click.style` has it."""
    click.secho(printable(str(text)), err=err, nl=nl, **style)


class Console(rich.console.Console):
    """A console of rich that prints `printable` text, wherever in a table or a panel it stands."""

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # A segment with `control` is rich's own, such as what redraws a progress bar.
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: square brackets in ids and observations are no markup.

    It has the terminal's width, or that of the variable COLUMNS; in a pipe it has no limit.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else UNLIMITED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def print_waiting(for_what: str) -> None:
    """Say what takes a while before there is anything to show, on standard error, if that is a terminal."""
    if is_terminal(sys.stderr):
        echo(f"{for_what} …", err=True)


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody watches what is written to `stream`."""
    return stream.isatty()


def print_text(text: str) -> None:
    """Print what an env says, on standard output: in a terminal lines break between words, elsewhere not at all."""
    shown = console()
    shown.print(text, soft_wrap=not shown.is_terminal)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object. What JSON has no word for, such as a set in an env's kwargs, is spelt as Python does.

    A command prints one; after it, an error is not printed as another.
    """
    echo(json.dumps(value, default=repr))
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(output := context.find_root().obj, JsonOutput):
        output.printed = True


def stray_prints_to_stderr() -> contextlib.redirect_stdout[Any]:
    """While packs and envs run: what they print must not mix with what the command prints."""
    return contextlib.redirect_stdout(sys.stderr)


def as_text(observation: Observation) -> str:
    """An observation for the terminal: of content parts, the text, and the type of whatever is not text.

    A part without a type is none by the contract, and is shown all the same: this is where one looks for such faults.
    """
    text = (
        observation
        if isinstance(observation, str)
        else "\n".join(str(part.get("text", f"[{part.get('type', 'no type')}]")) for part in observation)
    )
    # Half of a surrogate pair, which JSON can spell, has no place in UTF-8.
    return text.encode(errors="backslashreplace").decode()


def warn_of_failures(packs: list[Pack]) -> None:
    """One line on standard error if packs are left out because they failed."""
    failed = [pack.distribution for pack in packs if pack.state == "failed"]
    if failed:
        echo(f"Left out, because they failed: {', '.join(failed)}. `gemx doctor` says why.", err=True)
