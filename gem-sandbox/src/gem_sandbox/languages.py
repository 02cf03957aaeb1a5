"""The languages that programs can be in."""

from typing import Any, Literal, get_args

from gem_sandbox.checks import did_you_mean
from gem_sandbox.errors import ConfigError

Language = Literal["python", "cpp", "javascript"]
"""The language of a program: Python for the interpreter of this process, C++17 for GCC, JavaScript for Node.js."""

LANGUAGES: tuple[Language, ...] = get_args(Language)
"""All of them."""


def check_language(language: Any) -> None:
    """Raise ConfigError unless `language` is one."""
    if language not in LANGUAGES:
        near = did_you_mean(str(language), LANGUAGES)
        raise ConfigError(f"language={language!r} is not one of {', '.join(LANGUAGES)}.{near}")
