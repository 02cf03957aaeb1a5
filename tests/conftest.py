"""Lets the tests of this folder import what they share: `layering` and `scratch`."""

import sys
from pathlib import Path

# pytest's importlib mode puts nothing on the path.
sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "gem-core" / "tests")]
