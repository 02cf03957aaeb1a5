"""Lets the tests of this folder import what they share: `wiki_server`."""

import sys
from pathlib import Path

# pytest's importlib mode puts nothing on the path.
sys.path.append(str(Path(__file__).parent))
