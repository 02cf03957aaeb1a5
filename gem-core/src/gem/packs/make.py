"""`gem.make`: building an environment from an id or a spec."""

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec import Struct, structs, to_builtins

from gem.core import Env
from gem.errors import MissingExtra, PackError, SpecError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.importing import check_arguments, import_object
from gem.packs.lookup import find_named
from gem.packs.registry import get_spec
from gem.packs.spec import EnvSpec

WrapperLike = ComponentRef | Callable[[Env], Env]
"""A reference to a wrapper, or a callable that takes an env and returns one."""
_TOOL_ENV = "tool_env"
Wrappers = ComponentRef | Sequence[WrapperLike]
"""One wrapper, several, or comma-separated names; the last is outermost."""


def make(id: str | EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> Env:
    """Build an environment.

    Args:
        id: an id, `"module.path:Class"`, or a spec.
        wrappers: names (`"a,b"` or a list), `{"name": …, **settings}`, or callables, applied in this order around those
            of the spec: the last is outermost. Tools and settings for a `tool_env` that the spec has become its own: a
            conversation has one call format. `env.spec` names them all: `make(env.spec)` builds the same env.
        kwargs: override the kwargs of the spec.

    Raises:
        UnknownId, PackError, SpecError: see `Registry.find`.
        SpecError: an argument of the environment or of a wrapper is unknown or missing.
        MissingExtra: an optional dependency is not installed, or a variable or a program that it needs is missing.
    """
    found = id if isinstance(id, EnvSpec) else get_spec(id)
    if found.lacks:
        raise MissingExtra(f"{found.id!r} needs {found.lacks}")
    spec = bind(found, wrappers=wrappers, **kwargs)
    env = checked_class(spec)(**_arguments(spec))
    env.spec = spec
    try:
        for wrapper in _joined(found.wrappers, as_list(wrappers)):
            wrapped = (wrapper if callable(wrapper) else _build_wrapper(wrapper))(env)
            if not isinstance(wrapped, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
                raise SpecError(f"the wrapper {_named(wrapper)!r} returns a {type(wrapped).__name__}, not a gem.Env")
            env = wrapped
    except BaseException:
        env.close()
        raise
    return env


def bind(spec: EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> EnvSpec:
    """The spec that `make` would give its env, without making the env."""
    if not kwargs and not wrappers and "max_turns" not in spec.kwargs:
        return spec
    # A `gem.data.DataSource` as its fields, so that the spec can be recorded.
    given = {name: to_builtins(value) if isinstance(value, Struct) else value for name, value in kwargs.items()}
    arguments = {**_arguments(spec), **given}
    # max_turns=None means "no limit" among the kwargs, and "not given" in the field.
    max_turns = arguments.pop("max_turns") if arguments.get("max_turns") is not None else None
    named = tuple(map(_named, _joined(spec.wrappers, as_list(wrappers))))
    return structs.replace(spec, kwargs=arguments, max_turns=max_turns, wrappers=named)


def _arguments(spec: EnvSpec) -> dict[str, Any]:
    limit = {} if spec.max_turns is None else {"max_turns": spec.max_turns}
    return {**spec.kwargs, **limit}


def _joined(own: Sequence[WrapperLike], given: Sequence[WrapperLike]) -> list[WrapperLike]:
    """The wrappers of a spec and those around them; tools and settings for a `tool_env` of the spec become its own."""
    layers = list(own)
    place = next((place for place, each in enumerate(own) if _is_tool_env(each)), None)
    for wrapper in given:
        if place is None or not _is_tool_env(wrapper):
            layers.append(wrapper)
            continue
        settings, further = (name_and_settings(cast("ComponentRef", each))[1] for each in (layers[place], wrapper))
        tools = [*as_list(settings.get("tools", ())), *as_list(further.get("tools", ()))]
        layers[place] = {"name": _TOOL_ENV, **settings, **further, **({"tools": tools} if tools else {})}
    return layers


def _is_tool_env(wrapper: WrapperLike) -> bool:
    return not callable(wrapper) and name_and_settings(wrapper)[0] == _TOOL_ENV


def _named(wrapper: WrapperLike) -> ComponentRef:
    """A reference to a wrapper; a lambda or a partial is only described."""
    if not callable(wrapper):
        return copy.deepcopy(wrapper)
    if hasattr(wrapper, "__qualname__"):
        return f"{wrapper.__module__}:{wrapper.__qualname__}"
    return repr(wrapper)


def _build_wrapper(component: ComponentRef) -> Callable[[Env], Env]:
    name, settings = name_and_settings(component)
    wrapper = find_named("wrapper", name)
    check_arguments(f"the wrapper {name!r}", wrapper, settings, given=1)
    return functools.partial(wrapper, **settings)


def checked_class(spec: EnvSpec) -> type[Env]:
    """`import_env`, checked to take the arguments of the spec; else `SpecError` or `MissingArgument`."""
    env_class = import_env(spec)
    check_arguments(repr(spec.id), env_class, _arguments(spec))
    return env_class


def import_env(found: EnvSpec) -> type[Env]:
    """The class of a spec.

    `PackError` if it cannot be imported, `MissingExtra` without an optional dependency, `SpecError` for other objects.
    """
    try:
        env_class = import_object(found.entry_point)
    except PackError as error:
        if found.extra is None or error.name is None:
            raise
        raise MissingExtra(f"{found.id!r} needs {error.name}: pip install '{found.extra}'") from error
    # An id may name any object, which must not be called.
    if not (isinstance(env_class, type) and issubclass(env_class, Env)):
        raise SpecError(f"{found.entry_point!r} is not an environment: it is not a class that derives from gem.Env")
    if inspect.isabstract(env_class):
        missing = ", ".join(sorted(env_class.__abstractmethods__))
        raise SpecError(f"{found.entry_point!r} cannot be made: its class does not define {missing}")
    return env_class
