"""Snapshots as bytes: a pickle with the class and the constructor arguments of its env, which `load` compares."""

import inspect
import pickle
from typing import Any, cast

from gem.errors import SnapshotError

ConstructorCall = tuple[tuple[Any, ...], dict[str, Any]]
"""The positional and the keyword arguments of a constructor."""


def dump(env: object, made: ConstructorCall, content: Any) -> bytes:
    """`content` as a snapshot of an env that was built with `made`."""
    return pickle.dumps((_name_of(env), _plain(made), content), protocol=pickle.HIGHEST_PROTOCOL)


def load(env: object, made: ConstructorCall, state: bytes) -> Any:
    """The content of a snapshot; `SnapshotError` if it is not of such an env, built with the arguments `made`."""
    if not isinstance(state, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SnapshotError(f"a snapshot is the bytes that snapshot() returned, not {state!r:.80}")
    try:
        name, recorded, content = pickle.loads(state)
    except Exception as error:
        raise SnapshotError(f"these {len(state)} bytes are not a snapshot: {error}") from error
    if name != _name_of(env):
        raise SnapshotError(f"this snapshot is of {name}, and cannot be restored into {_name_of(env)}")
    if recorded != _plain(made):
        _refuse(type(env), recorded, _plain(made))
    return content


def _name_of(env: object) -> str:
    return f"{type(env).__module__}.{type(env).__qualname__}"


def _plain(made: ConstructorCall) -> ConstructorCall:
    """The arguments that are plain data. Envs have snapshots of their own; functions cannot be compared."""
    args, kwargs = made
    return tuple(each if _is_plain(each) else None for each in args), {
        name: value for name, value in kwargs.items() if _is_plain(value)
    }


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, cast("list[Any]", value)))
    if isinstance(value, dict):
        return all(map(_is_plain, cast("dict[Any, Any]", value).values()))
    return value is None or isinstance(value, str | int | float | bool)


def _refuse(env_class: type, recorded: ConstructorCall, own: ConstructorCall) -> None:
    before, now = _by_name(env_class, recorded), _by_name(env_class, own)
    differ = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differ:
        there, here = (", ".join(f"{name}={made.get(name)!r}" for name in differ) for made in (before, now))
        raise SnapshotError(f"this snapshot is of a {env_class.__name__} with {there}, and this one has {here}")


def _by_name(env_class: type, made: ConstructorCall) -> dict[str, Any]:
    """The arguments by name, defaults included; lists as tuples."""
    args, kwargs = made
    try:
        bound = inspect.signature(env_class).bind_partial(*args, **kwargs)
    except TypeError:  # the class has changed since
        return {"its arguments": args, **kwargs}
    bound.apply_defaults()
    return {
        name: tuple(cast("list[Any]", value)) if isinstance(value, list) else value
        for name, value in bound.arguments.items()
    }
