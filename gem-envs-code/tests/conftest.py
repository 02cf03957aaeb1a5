"""What the tests of the pack share."""

import sys
from pathlib import Path

import pytest

import gem_sandbox as sandbox

# pytest's importlib mode puts nothing on the path, and tests import `working_levels`.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture(scope="session")
def box():
    """The sandbox that an env uses by default."""
    return sandbox.default()
