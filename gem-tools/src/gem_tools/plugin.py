"""What this pack offers: tables of tools, environments and commands. Listing loads this module and none of them."""

from collections.abc import Mapping
from typing import Any

import gem

GEM_API = 1


_CALENDAR: Mapping[str, Mapping[str, Any]] = {
    "": {"events": 6, "todos": 3, "errands": 2, "max_turns": 16},
    "-easy": {"events": 4, "todos": 2, "errands": 1, "max_turns": 10},
    "-hard": {"events": 12, "todos": 5, "errands": 5, "max_turns": 40},
}
"""Variant → kwargs."""


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"tools:Calendar-v0{variant}",
            entry_point="gem_tools.calendar.env:Calendar",
            kwargs=kwargs,
            description="Errands in a calendar and a to-do list behind tools, graded by what these hold in the end "
            f"(events={kwargs['events']}, errands={kwargs['errands']})",
            tags=("tools", "multi-turn"),
        )
        for variant, kwargs in _CALENDAR.items()
    ]


@gem.hookimpl
def gem_tools() -> dict[str, str]:
    return {}
