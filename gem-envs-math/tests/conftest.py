"""What the tests of the math pack share."""

import sys
from pathlib import Path

# pytest's importlib mode puts nothing on the path.
sys.path.append(str(Path(__file__).parent))
