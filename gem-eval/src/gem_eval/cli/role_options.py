"""Options of commands for the models that play roles."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from gem.cli.options import pairs_of, role_models
from gem.errors import ConfigError
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.rollout.named_policies import policy_ref
from gem_eval.roles import OPENAI

_OPTIONS = (
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="ROLE=MODEL",
        help="A model that environments and rewards ask as ROLE, such as judge=openai:NAME; at --base-url, if it has "
        "no address of its own.",
    ),
    click.option(
        "--role-arg",
        "role_arguments",
        multiple=True,
        metavar="ROLE.KEY=VALUE",
        help="A setting of such a model, or its prices: judge.temperature=0, judge.prices=0.1,0.4.",
    ),
    click.option(
        "--cache",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help="Keep the answers of these models in FOLDER, and do not ask for them again.",
    ),
)


def with_role_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with the options `--role`, `--role-arg` and `--cache`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def parse_roles(
    before: Mapping[str, ComponentRef], roles: Sequence[str], arguments: Sequence[str], base_url: str | None
) -> dict[str, ComponentRef]:
    """The models of roles.

    Args:
        before: those of a suite or a folder, which a `--role` of the same name replaces.
        roles: values of `--role`.
        arguments: values of `--role-arg`.
        base_url: of a model behind a chat API that has no other.

    Raises:
        ConfigError: a value cannot be read.
    """
    found = {**before, **role_models(roles)}
    own: dict[str, dict[str, Any]] = {role: {} for role in found}
    for pair in arguments:
        role, dot, setting = pair.partition(".")
        if not dot or role not in found:
            raise ConfigError(f"--role-arg takes ROLE.KEY=VALUE of a role that --role sets, not {pair!r}")
        own[role] |= pairs_of("--role-arg", "judge.temperature=0", [setting])
    return {role: _with(model, own[role], base_url) for role, model in found.items()}


def _with(model: ComponentRef, own: Mapping[str, Any], base_url: str | None) -> ComponentRef:
    name, settings = name_and_settings(model)
    name, settings = name_and_settings(policy_ref({"name": name, **settings, **own}))
    if name == OPENAI and base_url:
        settings.setdefault("base_url", base_url)
    if isinstance(settings.get("prices"), str):
        settings["prices"] = prices_of("--role-arg", settings["prices"])
    return {"name": name, **settings}


def prices_of(option: str, given: str) -> list[float]:
    """Prices as they are written on a command line."""
    try:
        return [float(each) for each in given.split(",")]
    except ValueError:
        raise ConfigError(f"{option} takes IN,OUT[,CACHED], such as 0.25,2, not {given!r}") from None
