"""The script of this program, which worker processes import if it defines what they are sent."""

import pickle
import runpy
import sys
from typing import Any

running = False
"""True while this process, a worker, imports the script of its parent."""


def with_script(pickled: bytes) -> bytes:
    """A pickle for `loads_with_script`, which imports the script first if the pickle needs it."""
    # A notebook or a console has no file.
    script = getattr(sys.modules["__main__"], "__file__", None) if b"__main__" in pickled else None
    return pickle.dumps((script, pickled))


def loads_with_script(data: bytes) -> Any:
    """The object of `with_script`."""
    path, pickled = pickle.loads(data)
    if path is not None:
        _import_script(path)
    return pickle.loads(pickled)


def _import_script(path: str) -> None:
    """Import the script of the parent as `__main__`, once, like `multiprocessing` does in spawned processes."""
    global running  # noqa: PLW0603
    if "__mp_main__" in sys.modules:
        return
    running = True
    names = runpy.run_path(path, run_name="__mp_main__")
    module = type(sys)("__mp_main__")
    module.__dict__.update(names)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    running = False
