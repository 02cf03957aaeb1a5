"""Checks of settings: what an environment does first with the arguments it is given."""

import math
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

from gem.errors import ConfigError, did_you_mean


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an `int` from `low` to `high` (None for no bound); else a `ConfigError` that calls it `name`."""
    if not is_int(value) or value < low or (high is not None and value > high):
        bounds = f">= {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{name} must be an integer {bounds}, not {value!r}")
    return int(value)


def is_int(value: object) -> bool:
    """Whether `value` is an integer: of Python's or NumPy's, and not a bool, which Python counts as one."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def finite(name: str, value: Any) -> float:
    """`value` as a finite `float`; else a `ConfigError` that calls it `name`."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ConfigError(f"{name} is a finite number, not {value!r}")
    return float(value)


def in_words(error: ValidationError, where: str, known: Collection[str]) -> str:
    """The first fault of settings, in a line that begins with `where`; `known` has the names of those that exist."""
    fault = error.errors()[0]
    field = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = f"there is no such setting.{did_you_mean(field, known)} There are: {', '.join(known)}."
    elif fault["type"] == "missing":
        message = "it is missing"
    return ": ".join(part for part in (where, field, message) if part)
