"""Options that several commands share."""

import json
from collections.abc import Sequence
from typing import Any

import click

from gem import seeding
from gem.errors import ConfigError, SpecError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.importing import is_file_path


class Seed(click.ParamType[int]):
    """A seed, as for `gem.seeding`."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return seeding.check_seed(int(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


POSITIVE = click.FloatRange(min=0, min_open=True)
"""A number above 0."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
wrappers = click.option(
    "--wrappers",
    default="",
    metavar="NAME,…",
    help="Wrappers around it, the last one outermost: names, or JSON where one has settings.",
)
tools = click.option(
    "--tools",
    default="",
    metavar="NAME,…",
    help="Tools that may be called, such as python,search; JSON where one has settings. `gemx tools` lists them.",
)
tool_arguments = click.option(
    "--tool-arg",
    "tool_arguments",
    multiple=True,
    metavar="KEY=VALUE",
    help="An argument of ToolEnv, such as format=hermes or max_calls=5.",
)
reward = click.option(
    "--reward",
    metavar="FILE.py:NAME",
    help="Score the episodes with a reward too: of a file, a module or a pack; JSON where it has settings.",
)
role = click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=MODEL",
    help="A model that environments ask as ROLE, such as judge=openai:NAME, or user=module:function.",
)
arguments = click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override an argument of the environment. The value is read as JSON, or else is a string.",
)

_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def parse_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """The arguments of the environment by name; see `pairs_of`."""
    parsed = pairs_of("--arg", "max_turns=5", pairs)
    if "wrappers" in parsed:
        raise ConfigError("--arg is for arguments of the environment, not for wrappers")
    return parsed


def parse_wrappers(wrappers: str, tools: str, tool_arguments: Sequence[str]) -> list[ComponentRef]:
    """The wrappers of these options; `tool_env` is innermost."""
    layers = components("--wrappers", wrappers)
    settings = pairs_of("--tool-arg", "max_calls=5", tool_arguments)
    if taken := settings.keys() & {"name", "tools"}:
        raise ConfigError(f"--tool-arg is for the other arguments of ToolEnv, not for {min(taken)!r}")
    if tools.strip():
        settings["tools"] = components("--tools", tools)
    return [{"name": "tool_env", **settings}, *layers] if settings else layers


def reward_ref(text: str | None) -> ComponentRef | None:
    """The reference that `--reward` gives."""
    if not text:
        return None
    named = [text] if is_file_path(text) else components("--reward", text)
    if len(named) != 1:
        raise ConfigError(f"--reward takes one reward or pipeline, not {text!r}: put several into a gem.RewardPipeline")
    return named[0]


def role_models(roles: Sequence[str]) -> dict[str, ComponentRef]:
    """Models by role: `["judge=openai:NAME"]` → `{"judge": "openai:NAME"}`."""
    found: dict[str, ComponentRef] = {}
    for pair in roles:
        name, equals, model = pair.partition("=")
        named = components("--role", model) if equals else []
        if len(named) != 1:
            raise ConfigError(f"--role takes ROLE=MODEL, such as --role judge=openai:NAME, not {pair!r}")
        found[name] = named[0]
    return found


def components(option: str, text: str) -> list[ComponentRef]:
    """The references in `"a,b"`, or in a JSON object or list; a `ConfigError` names `option`."""
    if not text.lstrip().startswith(("[", "{")):
        if "{" in text:
            raise ConfigError(f"{option} takes names, or one JSON list of all of them, not {text}")
        return as_list(text)
    try:
        found: list[ComponentRef] = as_list(json.loads(text))
        for each in found:
            name_and_settings(each)
    except SpecError as error:
        raise ConfigError(f"{option} {text}: {error}") from error
    except ValueError as error:
        raise ConfigError(f"{option} {text} is not JSON: {error}") from error
    return found


def pairs_of(option: str, example: str, pairs: Sequence[str]) -> dict[str, Any]:
    """`["size=4", "mode=fast"]` → `{"size": 4, "mode": "fast"}`; a `ConfigError` shows `option` with an `example`."""
    parsed: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ConfigError(f"{option} takes KEY=VALUE, such as {option} {example}, not {pair!r}")
        parsed[key] = _parse(value)
    return parsed


def _parse(value: str) -> Any:
    # As a string, the word False would count as true.
    if value in _PYTHON_WORDS:
        return _PYTHON_WORDS[value]
    try:
        return json.loads(value)
    except ValueError:
        return value
