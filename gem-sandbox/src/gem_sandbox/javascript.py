"""JavaScript: Node.js, which runs the program as a script."""

import os
import shutil

from gem_sandbox.errors import ConfigError
from gem_sandbox.image import Image
from gem_sandbox.limits import MIB
from gem_sandbox.visible import INSIDE, Tools

SOURCE = "main.js"
"""The file of the program, in its folder."""

_ROOM = 4096 * MIB  # Node.js reserves much more than it uses
_DATA_ROOM = 96 * MIB  # what it uses itself, with the stacks of its threads
_STACK = 64 * MIB
_OPTIONS = (
    "--no-addons",  # native code in files
    "--disable-wasm-trap-handler",  # which would reserve 10 GB for each WebAssembly memory
    "--v8-pool-size=1",  # else as many threads as there are processors, whose work counts as the program's
    "--no-warnings",
    f"--openssl-config={os.devnull}",  # it stops where there is one that it may not read
    f"--stack-size={_STACK // 2 // 1024}",
    f"--require={INSIDE / 'prelude.cjs'}",
)


def tools() -> Tools:
    """The tools of running, on this machine.

    Raises:
        ConfigError: Node.js is not installed.
    """
    return Tools((_node(),))


def image(memory: int) -> Image:
    """Node.js on the program, whose process may have `memory` bytes."""
    heap = f"--max-old-space-size={max(1, memory // MIB)}"
    path = _node()
    return Image(arguments=(path, heap, *_OPTIONS, SOURCE), path=path, room=_ROOM, data_room=_DATA_ROOM, stack=_STACK)


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        raise ConfigError("programs in JavaScript need Node.js, and node is not here: apt-get install nodejs")
    return os.path.realpath(found)
