"""Wrappers and tools as data: a name that a pack gave, alone or with settings."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from gem.errors import SpecError

ComponentRef = str | Mapping[str, Any]
"""A wrapper or a tool: the name that a pack gave it, or `{"name": …}` and, beside it, the settings it is built with."""

T = TypeVar("T")


def name_and_settings(component: ComponentRef) -> tuple[str, dict[str, Any]]:
    """Take a component apart.

    >>> name_and_settings({"name": "tool_env", "tools": "python"})
    ('tool_env', {'tools': 'python'})

    Raises:
        SpecError: it is none, or has no name.
    """
    if isinstance(component, str):
        return component.strip(), {}
    if not isinstance(component, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise SpecError(f'{component!r} is neither a name nor {{"name": …}} with settings')
    settings = dict(component)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise SpecError(f"what is built with settings says by 'name' what it is, and {dict(component)!r} does not")
    return name.strip(), settings


def as_list(given: str | Mapping[str, Any] | Iterable[T]) -> list[str | Mapping[str, Any] | T]:
    """One after another: names with commas between them, one component alone, or several.

    >>> as_list("concat, episode_tracking")
    ['concat', 'episode_tracking']

    Raises:
        SpecError: it is none of these.
    """
    if isinstance(given, str):
        return [name.strip() for name in given.split(",") if name.strip()]
    if isinstance(given, Mapping):
        return [cast("Mapping[str, Any]", given)]
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise SpecError(f"{given!r} is neither names with commas between, nor a list")
    return list(given)
