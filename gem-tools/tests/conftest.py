"""Shared parts of the tests of the tools."""

import sys
from pathlib import Path

# pytest's importlib mode puts nothing on the path, and tests import `scripted_server`.
sys.path.append(str(Path(__file__).parent))
