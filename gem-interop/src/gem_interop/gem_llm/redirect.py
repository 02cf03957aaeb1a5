"""`import gem` in the modules of a framework: this package there, and GEM everywhere else."""

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gem.errors import ConfigError

_HERE = __name__.rpartition(".")[0]
_ADVICE = (
    "of gem-llm is not offered by gem_interop.gem_llm: use GEM's own, which docs/coming-from-gem-llm.md names, "
    "or leave out what needs it"
)

_packages: set[str] = set()
_import = builtins.__import__


def install(*packages: str) -> None:
    """Let `import gem` mean `gem_interop.gem_llm` in the modules of some packages.

    Call it before the framework is imported, in every process that imports it: the first lines of the framework's own
    `__init__.py` are such a place. It replaces `builtins.__import__`; modules of other packages import as before, and
    `gem` is not changed.

    Args:
        packages: top-level packages, such as `"roll"`.

    Raises:
        ConfigError: there is none, it is a package of GEM, or a module of it has imported `gem` already.
    """
    if not packages:
        raise ConfigError('install() needs the name of a framework\'s package, such as install("roll")')
    for package in packages:
        if package.partition("_")[0] == "gem" or not package.isidentifier():
            raise ConfigError(f"install() takes the top-level package of a framework, such as 'roll', not {package!r}")
        late = [name for name, module in list(sys.modules.items()) if _has_gem(name, package, module)]
        if late:
            raise ConfigError(f"call install({package!r}) earlier: {late[0]} has imported gem already")
    _packages.update(packages)
    builtins.__import__ = _redirected


def _has_gem(name: str, package: str, module: Any) -> bool:
    return name.partition(".")[0] == package and getattr(module, "gem", None) is sys.modules.get("gem", module)


def import_named(path: str) -> Any:
    """The object at `"module:name"`; modules of gem-llm, such as `gem.envs.math_env`, are those of this package."""
    module, _, name = path.partition(":")
    if module.partition(".")[0] == "gem":
        module = _HERE + module.removeprefix("gem")
        _check(module)
    return getattr(importlib.import_module(module), name)


def _redirected(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level or name.partition(".")[0] != "gem" or not _asked_for(globals):
        return _import(name, globals, locals, fromlist or (), level)
    target = _HERE + name.removeprefix("gem")
    _check(target)
    found = _import(target, globals, locals, fromlist or (), 0)
    return found if fromlist else sys.modules[_HERE]


def _asked_for(importer: Mapping[str, Any] | None) -> bool:
    """Whether the importing module belongs to a package that was named; one that is run as a program too."""
    of = (importer or {}).get("__package__") or (importer or {}).get("__name__") or ""
    return of.partition(".")[0] in _packages


def _check(module: str) -> None:
    """Say that a module is not offered, rather than that it does not exist."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        name = f"gem{module.removeprefix(_HERE)}"
        raise ModuleNotFoundError(f"the module {name} {_ADVICE}", name=name) from None
