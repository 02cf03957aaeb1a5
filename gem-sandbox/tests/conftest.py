"""What the tests of the sandbox share."""

import sys
from pathlib import Path

# pytest's importlib mode puts nothing on the path, and tests import `sandbox_levels`, `attacks` and `cheats`.
sys.path.append(str(Path(__file__).parent))
