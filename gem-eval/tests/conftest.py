"""What the tests of gem-eval share."""

import sys
from pathlib import Path

import pytest

from gem.packs import registry

# pytest's importlib mode puts nothing on the path, and an env is found by its module's name. The samples of the core's
# tests serve here too.
sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2] / "gem-core" / "tests")]


@pytest.fixture
def core_only(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """A fresh registry without the other packs that may be installed where the tests run."""
    monkeypatch.setenv("GEM_PACKS", "core,evaluation")
    fresh = registry.Registry()
    monkeypatch.setattr(registry, "_registry", fresh)
    return fresh
