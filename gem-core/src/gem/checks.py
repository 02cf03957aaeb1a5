"""Checks of settings: what an environment does first with the arguments it is given."""

import math
from typing import Any

from gem.errors import ConfigError


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an `int`, if it is an integer from `low` to `high` (None for no bound).

    Raises:
        ConfigError: it is not; the message calls it `name`.
    """
    if not is_int(value) or value < low or (high is not None and value > high):
        bounds = f">= {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{name} must be an integer {bounds}, not {value!r}")
    return int(value)


def is_int(value: object) -> bool:
    """Whether `value` is an integer: of Python's or NumPy's, and not a bool, which Python counts as one."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def finite(name: str, value: Any) -> float:
    """`value` as a `float`, if it is a finite number.

    Raises:
        ConfigError: it is not; the message calls it `name`.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ConfigError(f"{name} is a finite number, not {value!r}")
    return float(value)
