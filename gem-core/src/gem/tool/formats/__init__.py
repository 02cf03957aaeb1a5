"""Call formats: how an agent writes a call of a tool, one file per format."""

from collections.abc import Mapping

from gem.errors import ConfigError, did_you_mean
from gem.tool.formats.auto import Auto
from gem.tool.formats.base import BadCall, CallFormat, Problem, ToolCall
from gem.tool.formats.fenced import Fenced
from gem.tool.formats.hermes import Hermes
from gem.tool.formats.openai import OpenAI
from gem.tool.formats.tags import Tags

__all__ = ["FORMATS", "BadCall", "CallFormat", "Problem", "ToolCall", "find_format"]

FORMATS: Mapping[str, CallFormat] = {each.name: each for each in (Auto(), Tags(), Fenced(), Hermes(), OpenAI())}
"""The formats by name."""


def find_format(name: str) -> CallFormat:
    """The format of that name. Raises `ConfigError` if it does not exist."""
    if name not in FORMATS:
        near = did_you_mean(str(name), FORMATS)
        raise ConfigError(f"there is no call format {name!r}.{near} The formats are: {', '.join(FORMATS)}")
    return FORMATS[name]
