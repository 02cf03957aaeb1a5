"""The levels of isolation."""

from typing import Any, Literal, get_args

from gem_sandbox.checks import did_you_mean
from gem_sandbox.errors import ConfigError

Level = Literal["bubblewrap", "unshare", "landlock", "seccomp", "process"]
"""The isolation of a program, strongest first. `docs/sandbox.md` says what each level holds."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""The levels, strongest first."""


def check_levels(level: Any, min_level: Any) -> None:
    """Raise ConfigError unless the first is a level or None, and the second a level."""
    for name, value in (("level", level), ("min_level", min_level)):
        if value not in LEVELS and (value is not None or name == "min_level"):
            near = did_you_mean(value, LEVELS) if isinstance(value, str) else ""
            raise ConfigError(f"{name} is one of {', '.join(LEVELS)}, not {value!r}.{near}")
