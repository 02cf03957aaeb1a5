"""Options that several commands share."""

import json
from collections.abc import Sequence
from typing import Any

import click

from gem import seeding
from gem.errors import ConfigError


class Seed(click.ParamType[int]):
    """A seed as `gem.seeding` takes it."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return seeding.check_seed(int(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
wrappers = click.option(
    "--wrappers", default="", metavar="NAME,…", help="Names of wrappers around it, such as python_tool; last outermost."
)
arguments = click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override an argument of the environment. The value is read as JSON, or else is a string.",
)

_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def parse_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`["size=4", "mode=fast"]` → `{"size": 4, "mode": "fast"}`.

    Raises:
        ConfigError: one of them has no `=`, or is `wrappers`, which `gem.make` keeps for itself.
    """
    parsed: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ConfigError(f"--arg takes KEY=VALUE, such as --arg max_turns=5, not {pair!r}")
        if key == "wrappers":
            raise ConfigError("--arg is for arguments of the environment, and wrappers are none")
        parsed[key] = _parse(value)
    return parsed


def _parse(value: str) -> Any:
    # As a string, the word False would count as true.
    if value in _PYTHON_WORDS:
        return _PYTHON_WORDS[value]
    try:
        return json.loads(value)
    except ValueError:
        return value
