"""Tests of a framework are collected where it is installed: `make interop-NAME` makes an environment for each.

Samples of the core's tests serve here too.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

# pytest's importlib mode puts nothing on the path, and an env is found by its module's name.
sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2] / "gem-core" / "tests")]

FRAMEWORKS = {
    "gymnasium": "gymnasium",
    "nemo_gym": "nemo_gym",
    "openenv": "openenv",
    "openrlhf": "openrlhf",
    "prime_rl": "prime_rl",
    "rl2": "transformers",
    "serve": "websockets",
    "slime": "slime",
    "skyrl": "skyrl_gym",
    "skyrl_generator": "skyrl",
    "textarena": "textarena",
    "tinker": "tinker_cookbook",
    "trl": "trl",
    "verifiers": "verifiers",
    "verl": "verl",
}
"""By the NAME in `test_NAME*.py`, the module that these tests need."""

collect_ignore_glob = [f"test_{name}*.py" for name, module in FRAMEWORKS.items() if not find_spec(module)]
