"""Names of gem-llm that differ here: using one raises an error with the new name."""

from collections.abc import Mapping
from typing import Any

TOP: Mapping[str, str] = {
    "print_envs": "gem.all_specs(), or `gemx list` on the command line",
    "EnvWrapper": "gem.Wrapper",
}
"""Names in the module `gem` → what to write instead."""


def instead_of(name: str, instead: str) -> AttributeError:
    """The error for a name of gem-llm."""
    return AttributeError(f"{name!r} is gem-llm's name; write {instead}")


class Renamed:
    """A descriptor in place of a method of gem-llm: reading it raises an error with the new name."""

    def __init__(self, instead: str) -> None:
        self.instead = instead
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise instead_of(self.name, self.instead)
