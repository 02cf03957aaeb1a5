"""`gemx new`: make a pack from a template."""

from pathlib import Path
from typing import Any

import click

from gem.cli.output import echo
from gem.templates import choices, new_pack

_common = (
    click.argument("title", required=False),
    click.option("--namespace", metavar="NAME", help="The part of every id before the colon.  [default: from TITLE]"),
    click.option("--distribution", metavar="NAME", help="What people pip install.  [default: from the namespace]"),
    click.option("--package", metavar="NAME", help="What people import.  [default: from the distribution]"),
    click.option("--description", metavar="TEXT", help="One line that describes the pack."),
    click.option("--author", metavar="NAME", help="The author, for its metadata and its licence."),
    click.option("--licence", type=click.Choice(choices("env-pack", "licence")), help="[default: Apache-2.0]"),
    click.option(
        "--ci",
        type=click.Choice(choices("env-pack", "ci")),
        help="Workflows that test the pack, and publish it to PyPI when a tag is pushed.  [default: github]",
    ),
    click.option(
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(),
        metavar="FOLDER",
        help="Where to put the folder of the pack.  [default: here]",
    ),
)


def _with_common_options(function: Any) -> Any:
    for option in reversed(_common):
        function = option(function)
    return function


@click.group()
def new() -> None:
    """Make a pack that can be installed, tested and published as it is, to be changed into your own.

    Without TITLE, every setting is asked for.
    """


@new.command("env-pack")
@_with_common_options
@click.option(
    "--kind",
    type=click.Choice(choices("env-pack", "kind")),
    help="The first environment: a game of several turns, questions from a data set, or a task with tools that share a "
    "state.  [default: game]",
)
def env_pack(**given: Any) -> None:
    """Make a pack of environments, called TITLE."""
    _make("env-pack", given)


@new.command("tool-pack")
@_with_common_options
def tool_pack(**given: Any) -> None:
    """Make a pack of tools, called TITLE."""
    _make("tool-pack", given)


def _make(template: str, given: dict[str, Any]) -> None:
    output: Path = given.pop("output")
    ask = given["title"] is None
    made = new_pack(template, {name: value for name, value in given.items() if value is not None}, output, ask=ask)
    echo(f"{made} is a pack. To install it so that changes take effect, and to test it:\n")
    echo(f"  cd {made}\n  pip install -e . pytest\n  pytest\n")
    echo("Its README.md says how to play, measure, train and publish it.")
