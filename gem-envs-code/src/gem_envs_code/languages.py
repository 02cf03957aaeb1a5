"""Languages of programs: what agents are told about them, and how functions are called."""

import functools
import json
from collections.abc import Callable
from importlib import resources
from typing import NamedTuple

from gem.errors import ConfigError, did_you_mean
from gem_envs_code.imports import with_imports
from gem_sandbox import Job
from gem_sandbox import Language as Name


class Language(NamedTuple):
    """A language that the sandbox runs."""

    name: Name
    title: str
    """What agents call it."""
    fence: str
    """What stands behind the back-ticks of a code block."""
    printing: Callable[[str], str]
    """A program that prints a word."""
    complete: Callable[[str], str]
    """What is run in place of what the agent wrote."""
    caller: Callable[[str], Job] | None = None
    """A job that runs a program, from its source, on tests in one process: see `gem_envs_code.inside.caller`. Without
    it there are no function calls."""
    together: Callable[[str], bool] = lambda source: False
    """Whether `caller` may run a program on standard input several times in one process. It is a matter of speed: a
    test that is not passed there runs again, alone."""


def find_language(name: str) -> Language:
    """The language of this name.

    Raises:
        ConfigError: there is none.
    """
    if name not in LANGUAGES:
        near = did_you_mean(name, list(LANGUAGES))
        raise ConfigError(f"there is no language {name!r}.{near} There are: {', '.join(LANGUAGES)}.")
    return LANGUAGES[name]


@functools.cache
def inside(name: str) -> str:
    """The source of a module of `gem_envs_code.inside`, with that of `wire`, as one program."""
    folder = resources.files("gem_envs_code.inside")
    wire, module = (folder.joinpath(f"{each}.py").read_text("utf-8") for each in ("wire", name))
    own = [line for line in module.splitlines() if not line.startswith("from gem_envs_code.")]
    return "\n".join([wire, *own])


_ALONE = ("threading", "open(0", "os.read", "os.write", "os.dup", "__stdin__", "__stdout__", "/dev/std", "atexit")
"""What a program contains that needs standard streams with descriptors, or threads that outlive its last line."""


def _printing(word: str) -> str:
    return f"print({word!r})"


def _printing_cpp(word: str) -> str:
    return f"#include <cstdio>\nint main() {{ puts({json.dumps(word)}); }}"


def _printing_javascript(word: str) -> str:
    return f"console.log({json.dumps(word)})"


def _caller(source: str) -> Job:
    return Job(code=inside("caller"))


def _as_it_is(source: str) -> str:
    return source


def _together(source: str) -> bool:
    return not any(sign in source for sign in _ALONE)


PYTHON = Language(
    name="python",
    title="Python 3",
    fence="python",
    printing=_printing,
    complete=with_imports,
    caller=_caller,
    together=_together,
)

CPP = Language(
    name="cpp",
    title="C++17",
    fence="cpp",
    printing=_printing_cpp,
    complete=_as_it_is,
)
JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript (Node.js)",
    fence="javascript",
    printing=_printing_javascript,
    complete=_as_it_is,
)

LANGUAGES: dict[str, Language] = {language.name: language for language in (PYTHON, CPP, JAVASCRIPT)}
