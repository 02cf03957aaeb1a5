"""Algorithms by name."""

from typing import Any

from gem.errors import ConfigError
from gem.packs.lookup import find_named
from gem_train.algorithms.base import Algorithm
from gem_train.algorithms.settings import AlgorithmSettings


def find_algorithm(name: str) -> type[Algorithm[Any]]:
    """The algorithm that a pack offers under `name` in the hook `gem_algorithms`, or the class at `"module:Class"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: it cannot be imported.
        ConfigError: it is not an algorithm.
    """
    found = find_named("algorithm", name)
    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise ConfigError(f"{name!r} is not an algorithm: a class derived from gem_train.algorithms.base.Algorithm")
    if not issubclass(found.Settings, AlgorithmSettings):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"the Settings of the algorithm {name!r} must derive from AlgorithmSettings")
    return found
