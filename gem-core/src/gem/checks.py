"""Checks of settings: what an environment does first with the arguments it is given."""

import math
from functools import cache
from typing import Any

from msgspec import Struct, ValidationError, convert, structs

from gem.errors import ConfigError, SpecError


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
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an int beyond the largest float
        number = math.inf
    if not math.isfinite(number):
        # Python refuses to write integers of thousands of digits.
        raise ConfigError(f"{name} is a finite number, not {number if isinstance(value, int) else value!r}")
    return number


class CheckedStruct(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings whose types are checked when they are made: `SpecError` for a value of another type."""

    def __post_init__(self) -> None:
        for name, kind in _types(type(self)).items():
            given = getattr(self, name)
            try:
                value = convert(given, kind)
            except ValidationError as error:
                raise SpecError(f"{name}: {error}") from error
            if value is not given:  # a list that is a tuple now, or a copy
                structs.force_setattr(self, name, value)


@cache
def _types(kind: type[CheckedStruct]) -> dict[str, Any]:
    return {field.name: field.type for field in structs.fields(kind)}
