"""Checks of the entry points of a pack, by importing them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from gem.errors import GemError, MissingExtra
from gem.packs.discovery import Pack
from gem.packs.importing import import_object
from gem.packs.make import import_env
from gem.packs.spec import EnvSpec


class Offer(NamedTuple):
    """Something that a pack brings along."""

    what: str
    """Its description."""
    entry_point: str
    kind: str
    """`"environment"`, or a key of `_FITTING`."""
    extra: str | None = None
    """The extra that an environment needs."""


def offers(pack: Pack) -> list[Offer]:
    """Everything that a loaded pack brings along; of ids that share a class, the first."""
    envs: dict[str, EnvSpec] = {}
    for spec in pack.envs:
        envs.setdefault(spec.entry_point, spec)
    tables = (
        ("wrapper", pack.wrappers),
        ("policy", pack.policies),
        ("algorithm", pack.algorithms),
        ("probe", pack.probes),
    )
    return [
        *(Offer(spec.id, spec.entry_point, "environment", spec.extra) for spec in envs.values()),
        *(
            Offer(f"the source {source.form!r}", at, "callable")
            for source in pack.sources
            for at in filter(None, (source.resolve, source.names))
        ),
        *(Offer(f"the tool {name!r}", at, "a tool") for name, at in pack.tools.items()),
        *(Offer(f"the reward {name!r}", at, "a reward") for name, at in pack.rewards.items()),
        *(Offer(f"the {kind} {name!r}", at, "callable") for kind, table in tables for name, at in table.items()),
        *(Offer(f"the command {each.name!r}", each.entry_point, "a click command") for each in pack.commands),
    ]


def fault(given: list[Any]) -> str | None:
    """The problem of an offer, if it has one; a missing extra is none, because it is reported when it is needed."""
    offer = Offer(*given)
    try:
        _check(offer)
    except MissingExtra:
        return None
    except GemError as error:
        return str(error)
    return None


def _check(offer: Offer) -> None:
    if offer.kind == "environment":
        import_env(EnvSpec(id=offer.what, entry_point=offer.entry_point, extra=offer.extra))
        return
    found = import_object(offer.entry_point)
    if not _FITTING[offer.kind](found):
        raise GemError(f"{offer.entry_point!r} is {type(found).__name__} {found!r:.80}, which is not {offer.kind}")


def _is_tool(found: object) -> bool:
    from gem.tool.tool import Tool  # with pydantic, for which the packs without tools do not wait

    return isinstance(found, Tool | list | tuple) or callable(found)


def _is_reward(found: object) -> bool:
    from gem.rewards import Reward, RewardPipeline  # with pydantic, too

    return isinstance(found, Reward | RewardPipeline | list | tuple) or callable(found)


_FITTING: Mapping[str, Callable[[Any], bool]] = {
    "callable": callable,
    "a tool": _is_tool,
    "a reward": _is_reward,
    "a click command": lambda found: isinstance(found, click.Command),
}
"""What is found at an entry point → whether it fits."""
