"""Names of gem-llm that are others here: using one says what to write instead."""

from collections.abc import Mapping
from typing import Any

TOP: Mapping[str, str] = {
    "print_envs": "gem.all_specs(), or `gemx list` on the command line",
    "EnvWrapper": "gem.Wrapper",
}
"""Names of the module `gem` → what to write instead."""


def instead_of(name: str, instead: str) -> AttributeError:
    """The error of a name of gem-llm's."""
    return AttributeError(f"{name!r} is gem-llm's name; write {instead}")


class Renamed:
    """Stands where gem-llm has a method, and says what to write instead. It costs nothing until it is looked up."""

    def __init__(self, instead: str) -> None:
        self.instead = instead
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise instead_of(self.name, self.instead)
