"""Languages of programs: what agents are told about them, and how functions are called."""

import binascii
import functools
import json
import marshal
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

from gem.errors import ConfigError, did_you_mean
from gem_envs_code.imports import with_imports
from gem_envs_code.leftovers import leaves_nothing
from gem_sandbox import Job
from gem_sandbox import Language as Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language that the sandbox runs."""

    name: Name
    title: str
    """The name that agents read."""
    fence: str
    """The word behind the back-ticks of a code block."""
    printing: Callable[[str], str]
    """A program that prints a word."""
    complete: Callable[[str], str] = str
    """The program that is run in place of the agent's."""
    caller: Callable[[str], Job] | None = None
    """A job that runs a program, from its source, on tests in one process: see `gem_envs_code.inside.caller`. Without
    it there are no function calls."""
    together: Callable[[str], bool] = lambda source: False
    """Tell whether `caller` may run a program on several tests in one process, for speed: see
    `gem_envs_code.leftovers`."""


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
def inside(*names: str) -> str:
    """Modules of `gem_envs_code.inside`, with `wire`, as one program for the sandbox.

    It is compiled here, once: that takes longer than most programs run, and in the sandbox is the same interpreter.
    """
    folder = resources.files("gem_envs_code.inside")
    sources = (folder.joinpath(f"{name}.py").read_text("utf-8") for name in ("wire", *names))
    source = "\n".join(_OUR_IMPORT.sub("", each) for each in sources)
    code = binascii.b2a_base64(marshal.dumps(compile(source, "inside.py", "exec", dont_inherit=True, optimize=0)))
    return f"import binascii, marshal\nexec(marshal.loads(binascii.a2b_base64({code!r})))"


_OUR_IMPORT = re.compile(r"^from gem_envs_code\.[\w.]+ import (?:\([^)]*\)|.*)\n", re.MULTILINE)
_DEVICE = re.compile(r"""(?<![\w.])((?:io\.)?open\(\s*)(["'])/dev/stdin\2""")


def _complete(source: str) -> str:
    """A Python program with the imports that it lacks, and the descriptor of a device that the sandbox lacks."""
    return _DEVICE.sub(r"\g<1>0", with_imports(source))


PYTHON = Language(
    name="python",
    title="Python 3",
    fence="python",
    printing=lambda word: f"print({word!r})",
    complete=_complete,
    caller=lambda source: Job(code=inside("caller")),
    together=leaves_nothing,
)
CPP = Language(
    name="cpp",
    title="C++17",
    fence="cpp",
    printing=lambda word: f"#include <cstdio>\nint main() {{ puts({json.dumps(word)}); }}",
)
JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript (Node.js)",
    fence="javascript",
    printing=lambda word: f"console.log({json.dumps(word)})",
)
LANGUAGES: dict[str, Language] = {language.name: language for language in (PYTHON, CPP, JAVASCRIPT)}
