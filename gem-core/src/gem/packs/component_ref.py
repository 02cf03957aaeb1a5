"""References to wrappers, tools and policies as data: a name, alone or with settings."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from gem.errors import SpecError

ComponentRef = str | Mapping[str, Any]
"""A registered name, or `{"name": …, **settings}`."""

T = TypeVar("T")


def name_and_settings(component: ComponentRef) -> tuple[str, dict[str, Any]]:
    """The name and the settings of a reference; `SpecError` if it is none, or has no name.

    >>> name_and_settings({"name": "tool_env", "tools": "python"})
    ('tool_env', {'tools': 'python'})
    """
    if isinstance(component, str):
        return component.strip(), {}
    if not isinstance(component, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise SpecError(f'{component!r} is neither a name nor {{"name": …}} with settings')
    settings = dict(component)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise SpecError(f"settings need a 'name' beside them, and {dict(component)!r} does not have one")
    return name.strip(), settings


def as_list(given: str | Mapping[str, Any] | Iterable[T]) -> list[str | Mapping[str, Any] | T]:
    """A list from comma-separated names, from one reference, or from several; `SpecError` for anything else.

    >>> as_list("concat, episode_tracking")
    ['concat', 'episode_tracking']
    """
    if isinstance(given, str):
        return [name.strip() for name in given.split(",") if name.strip()]
    if isinstance(given, Mapping):
        return [cast("Mapping[str, Any]", given)]
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from a file
        raise SpecError(f"{given!r} is neither names with commas between, nor a list")
    return list(given)
