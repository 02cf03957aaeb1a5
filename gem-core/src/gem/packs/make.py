"""From a spec to an environment: `make`."""

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gem.core import Env
from gem.errors import MissingExtra, PackError, SpecError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.importing import check_arguments, import_object
from gem.packs.lookup import find_wrapper
from gem.packs.registry import get_spec
from gem.packs.spec import EnvSpec

WrapperLike = ComponentRef | Callable[[Env], Env]
"""A wrapper's name, or `{"name": …}` with its settings, or anything that takes an env and returns one."""
Wrappers = ComponentRef | Sequence[WrapperLike]
"""Wrappers, one alone, or names with commas between; the last is outermost."""


def make(id: str | EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> Env:
    """Build an environment.

    Args:
        id: an id, `"module.path:Class"`, or a spec.
        wrappers: names (`"a,b"` or a list), `{"name": …}` with the wrapper's settings, or callables, applied in this
            order around the spec's own: the last is outermost. The env's spec then names them all, so that
            `make(env.spec)` builds the same env again.
        kwargs: override the spec's kwargs.

    Raises:
        UnknownId, PackError, SpecError: see `Registry.find`.
        SpecError: an argument that the environment, or a wrapper, does not take, or one that it lacks.
        MissingExtra: the environment needs an optional dependency that is not installed.
    """
    found = id if isinstance(id, EnvSpec) else get_spec(id)
    env_class = import_env(found)
    spec = bind(found, wrappers=wrappers, **kwargs)
    arguments = _arguments(spec)
    check_arguments(repr(spec.id), env_class, arguments)
    env = env_class(**arguments)
    env.spec = spec
    try:
        for wrapper in (*found.wrappers, *as_list(wrappers)):
            wrapped = (wrapper if callable(wrapper) else _build_wrapper(wrapper))(env)
            if not isinstance(wrapped, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: it comes from anywhere
                raise SpecError(f"the wrapper {_named(wrapper)!r} makes a {type(wrapped).__name__}, and no gem.Env")
            env = wrapped
    except BaseException:
        env.close()
        raise
    return env


def bind(spec: EnvSpec, /, *, wrappers: Wrappers = (), **kwargs: Any) -> EnvSpec:
    """The spec with these wrappers and kwargs in force: the one that `make` gives its env, without making the env."""
    if not kwargs and not wrappers and "max_turns" not in spec.kwargs:
        return spec
    arguments = {**_arguments(spec), **kwargs}
    # A max_turns of None ("no limit") that overrides the spec's stays among the kwargs: the field means "not given".
    max_turns = arguments.pop("max_turns") if arguments.get("max_turns") is not None else None
    named = (*spec.wrappers, *(_named(wrapper) for wrapper in as_list(wrappers)))
    return spec.model_copy(update={"kwargs": arguments, "max_turns": max_turns, "wrappers": named})


def _arguments(spec: EnvSpec) -> dict[str, Any]:
    limit = {} if spec.max_turns is None else {"max_turns": spec.max_turns}
    return {**spec.kwargs, **limit}


def _named(wrapper: WrapperLike) -> ComponentRef:
    """What it can be found and built by, if it can be named at all: a lambda or a partial is only described."""
    if not callable(wrapper):
        return copy.deepcopy(wrapper)
    if hasattr(wrapper, "__qualname__"):
        return f"{wrapper.__module__}:{wrapper.__qualname__}"
    return repr(wrapper)


def _build_wrapper(component: ComponentRef) -> Callable[[Env], Env]:
    name, settings = name_and_settings(component)
    wrapper = find_wrapper(name)
    check_arguments(f"the wrapper {name!r}", wrapper, settings, given=1)
    return functools.partial(wrapper, **settings)


def import_env(found: EnvSpec) -> type[Env]:
    """The class that a spec names.

    Raises:
        PackError: it cannot be imported.
        MissingExtra: for an optional dependency that is not installed.
        SpecError: it is not a class of environments, or is abstract.
    """
    try:
        env_class = import_object(found.entry_point)
    except PackError as error:
        if found.extra is None or error.name is None:
            raise
        raise MissingExtra(f"{found.id!r} needs {error.name}: pip install '{found.extra}'") from error
    # Anything can stand in an id, and must not be called for that.
    if not (isinstance(env_class, type) and issubclass(env_class, Env)):
        raise SpecError(f"{found.entry_point!r} is no environment: it is no class that derives from gem.Env")
    if inspect.isabstract(env_class):
        missing = ", ".join(sorted(env_class.__abstractmethods__))
        raise SpecError(f"{found.entry_point!r} cannot be made: its class does not define {missing}")
    return env_class
