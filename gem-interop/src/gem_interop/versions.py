"""Check that a framework is there, in a version that its module works with."""

import re
import warnings
from importlib.metadata import PackageNotFoundError, version

from gem.errors import ConfigError, MissingExtra


def check(package: str, oldest: str, newest: str, source: str | None = None, page: str | None = None) -> None:
    """Check the installed version of a framework.

    Args:
        package: its distribution.
        oldest: the first version that has what the module uses.
        newest: the last one that the module was run with; a later one is warned of.
        source: what pip installs it from, if that is not PyPI.
        page: of `docs/frameworks`, which says what has to be installed besides.

    Raises:
        MissingExtra: it is not installed.
        ConfigError: it is too old.
    """
    install = f"pip install {source or f'{package}=={newest}'}"
    if page:
        install += f"; what it needs besides is in docs/frameworks/{page}.md"
    try:
        found = version(package)
    except PackageNotFoundError as error:
        raise MissingExtra(f"{package} is not installed: {install}") from error
    if _numbers(found) < _numbers(oldest):
        raise ConfigError(f"{package} {found} is too old, and GEM needs {oldest}: {install}")
    if _numbers(found) > _numbers(newest):
        warnings.warn(f"{package} {found} is newer than {newest}, the last version that GEM was run with", stacklevel=3)


def _numbers(text: str) -> tuple[int, ...]:
    """The release of a version: (1, 16, 0) of 1.16.0rc1."""
    release = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, release[0].split("."))) if release else ()
