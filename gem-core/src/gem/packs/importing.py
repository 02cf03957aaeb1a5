"""Importing objects by path (`"module.path:name"`), and checking arguments by name."""

import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import GemError, MissingArgument, PackError, SpecError, UnknownId, did_you_mean, one_line
from gem.work.lifetime import hold_during_fork

_DIRECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

LOCK = threading.RLock()
"""Held while packs and their objects are imported: Python does not promise that two threads can import a package and a
module of it at once, and a pack loaded by two threads would conflict with itself."""

hold_during_fork(LOCK)  # a forked child must not begin with a half-finished import of another thread


def is_import_path(name: str) -> bool:
    """Whether a name has the form `"module.path:name"`, and so is not a registered one."""
    return _DIRECT.fullmatch(name.strip()) is not None


def module_hint(name: str) -> str:
    """A hint for `"file.py:name"` or `"module.name"` in place of `"module:name"`; `""` if there is no such file."""
    file, _, attribute = name.partition(":")
    if not attribute and not file.endswith(".py") and "." in file:
        dotted, _, attribute = file.rpartition(".")
        file = dotted.replace(".", "/")
    module = Path(file.removesuffix(".py"))
    if module.is_absolute() or ".." in module.parts or not os.path.isfile(f"{module}.py"):
        return ""
    return f" For an object in {module}.py write {'.'.join(module.parts)}:{attribute or 'NAME'}."


def import_object(entry_point: str) -> Any:
    """The object at `"module:name"`; `PackError` (with `name`, if a module does not exist) if it cannot be imported."""
    module_name, _, path = entry_point.partition(":")
    try:
        with LOCK:
            target: Any = importlib.import_module(module_name)
    except GemError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # importing runs any code, which may exit
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        raise PackError(f"{entry_point!r} cannot be imported: {_message(error)}", name=missing) from error
    for name in path.split("."):
        if not hasattr(target, name):
            hint = did_you_mean(name, dir(target))
            if not hint and module_name == "__main__":
                hint = " Other processes cannot import what a notebook or a program defines: put it into a file."
            raise PackError(f"{entry_point!r}: {module_name} has no {name!r}.{hint}")
        target = getattr(target, name)
    return target


def _message(error: BaseException) -> str:
    """What was raised and where, on one line."""
    message = one_line(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError | ModuleNotFoundError) or last.filename.startswith("<frozen"):
        return message
    return f"{message} ({os.path.basename(last.filename)}, line {last.lineno})"


def import_path(kind: str, name: str) -> Any:
    """`import_object` for a name from a user; `UnknownId` if the module does not exist."""
    try:
        return import_object(name)
    except PackError as error:
        if error.name and f"{name.partition(':')[0]}.".startswith(f"{error.name}."):
            raise UnknownId(f"the module {error.name!r} of the {kind} {name!r} does not exist") from error
        raise


def is_file_path(name: str) -> bool:
    """Whether a name has the form `"folder/file.py:name"`."""
    return name.strip().rpartition(":")[0].endswith(".py")


def import_file(kind: str, name: str) -> Any:
    """The object at `"folder/file.py:name"`, whose code runs; the same module for the same file.

    `UnknownId` if the file does not exist, `PackError` if it cannot be imported.
    """
    path, _, attribute = name.strip().rpartition(":")
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise UnknownId(f"the file {path!r} of the {kind} {name!r} does not exist")
    module = f"gem_file_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    with LOCK:
        if module not in sys.modules:
            found = importlib.util.spec_from_file_location(module, file)
            if found is None or found.loader is None:  # of no file.py
                raise PackError(f"{path} cannot be imported")
            sys.modules[module] = made = importlib.util.module_from_spec(found)
            try:
                found.loader.exec_module(made)
            except BaseException as error:
                del sys.modules[module]
                if isinstance(error, GemError | KeyboardInterrupt):
                    raise
                raise PackError(f"{path} cannot be imported: {_message(error)}") from error
    if not hasattr(sys.modules[module], attribute):
        raise PackError(f"{path} has no {attribute!r}.{did_you_mean(attribute, dir(sys.modules[module]))}")
    return getattr(sys.modules[module], attribute)


class Parameters(NamedTuple):
    """The parameters of a function that can be given by name."""

    taken: tuple[str, ...]
    """The names, in order."""
    needed: frozenset[str]
    """Those without a default."""
    anything: bool
    """True if any name is accepted."""


def check_arguments(
    what: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    given: int = 0,
    filled: Collection[str] = (),
) -> None:
    """Check keyword arguments of a function, apart from `given` positional ones and those that others will fill in.

    `SpecError` if one is unknown, `MissingArgument` if one is missing.
    """
    parameters = parameters_of(function, given)
    taken = [name for name in parameters.taken if name not in filled]
    needed, anything = parameters.needed.difference(filled), parameters.anything
    if needed <= arguments.keys() and (anything or arguments.keys() <= set(taken)):
        return
    takes = f"It takes: {', '.join(taken) or 'none'}."
    if not anything:
        for name in arguments:
            if name not in taken:
                raise SpecError(f"{what} takes no argument {name!r}.{did_you_mean(name, taken)} {takes}")
    missing = next(name for name in taken if name in needed and name not in arguments)
    raise MissingArgument(f"{what} needs the argument {missing!r}. {takes}")


def parameters_of(function: Callable[..., Any], given: int = 0) -> Parameters:
    """The parameters of a function, but for `given` positional ones. Some C functions do not tell theirs."""
    try:
        return _parameters(function, given)
    except TypeError:  # not hashable
        return _parameters.__wrapped__(function, given)


@functools.lru_cache(maxsize=1024)  # reading a signature is the slowest part of making an env
def _parameters(function: Callable[..., Any], given: int) -> Parameters:
    try:
        parameters = list(inspect.signature(function).parameters.values())[given:]
    except ValueError:
        return Parameters((), frozenset(), anything=True)
    taken = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return Parameters(
        taken=tuple(each.name for each in taken),
        needed=frozenset(each.name for each in taken if each.default is each.empty),
        anything=any(each.kind is each.VAR_KEYWORD for each in parameters),
    )
