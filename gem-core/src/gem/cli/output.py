"""What the commands print with: tables and JSON on standard output, everything else on standard error."""

import contextlib
import json
import os
import sys
from typing import Any

import click
from rich.console import Console

from gem.core import Observation
from gem.plugins import Pack

UNLIMITED = 10_000
"""Columns of a table that goes into a pipe, so that every row stays on one line for `grep`."""


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: square brackets in ids and observations are no markup.

    It has the terminal's width, or that of the variable COLUMNS; in a pipe it has no limit.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else UNLIMITED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object. What JSON has no word for, such as a set in an env's kwargs, is spelt as Python does."""
    click.echo(json.dumps(value, default=repr))


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
        click.echo(f"Left out, because they failed: {', '.join(failed)}. `gemx doctor` says why.", err=True)
