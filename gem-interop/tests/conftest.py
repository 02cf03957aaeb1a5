"""Tests of a framework are collected where it is installed: `make interop-NAME` makes an environment for each."""

import sys
from importlib.util import find_spec
from pathlib import Path

# pytest's importlib mode puts nothing on the path, and an env is found by its module's name.
sys.path.append(str(Path(__file__).parent))
collect_ignore_glob = [] if find_spec("trl") else ["test_trl*.py"]
