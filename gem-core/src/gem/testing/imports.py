"""The check of the imports of a plugin module."""

import functools
import json
import os
import subprocess
import sys

from gem.errors import ContractViolation
from gem.testing.subject import Inapplicable, Subject

HEAVY = frozenset(
    ("click", "cookiecutter", "datasets", "jax", "matplotlib", "openai", "pandas", "pyarrow", "ray", "rich", "scipy",
     "sklearn", "tensorflow", "torch", "transformers", "vllm")
)  # fmt: skip
"""Libraries that listing environments must not load."""

_PROGRAM = """
import importlib, json, sys
from gem.packs import hookspecs
before = set(sys.modules)
importlib.import_module(sys.argv[1])
print("\\n" + json.dumps(sorted(set(sys.modules) - before)))
"""


def check_imports(subject: Subject) -> None:
    """Importing the pack's plugin module imports no environment and no heavy library."""
    pack = subject.pack
    if pack is None:
        raise Inapplicable("no pack registers it")
    loaded = _loaded_by(pack.module)
    envs = loaded & {spec.entry_point.partition(":")[0] for spec in pack.envs}
    heavy = loaded & HEAVY
    for names, what in ((envs, "a module with an environment"), (heavy, "a heavy library")):
        if names:
            raise ContractViolation(
                f"Importing the plugin module {pack.module} imports {min(names)}, {what}.",
                "Listing imports this module: it should contain only specs, whose entry points are strings. "
                "`python -X importtime` shows the imports.",
            )


@functools.cache
def _loaded_by(module: str) -> frozenset[str]:
    """The modules that importing `module` loads in a new process, apart from the hooks of gem."""
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", _PROGRAM, module]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    return frozenset(json.loads(done.stdout.splitlines()[-1]))
