"""Checks of arguments."""

import difflib
from collections.abc import Iterable
from typing import Any

from gem_sandbox.errors import ConfigError


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an `int`, if it is an integer from `low` to `high` (None for no bound).

    Raises:
        ConfigError: it is not; the message calls it `name`.
    """
    integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not integer or value < low or (high is not None and value > high):
        bounds = f">= {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{name} must be an integer {bounds}, not {value!r}")
    return int(value)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message that names a near miss, or `""` where nothing is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
