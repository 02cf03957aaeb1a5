"""What the tests of the core share."""

import sys
from pathlib import Path

import pytest

from gem.packs import registry

# pytest's importlib mode puts nothing on the path, and an env is found by its module's name.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def core_only(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """A fresh registry without the other packs that may be installed where the tests run."""
    monkeypatch.setenv("GEM_PACKS", "core")
    fresh = registry.Registry()
    monkeypatch.setattr(registry, "_registry", fresh)
    return fresh


@pytest.fixture(autouse=True)
def _ray_where_it_is_needed(request: pytest.FixtureRequest) -> None:
    callspec = getattr(request.node, "callspec", None)
    if callspec is not None and callspec.params.get("backend") == "ray":
        request.getfixturevalue("local_ray")
