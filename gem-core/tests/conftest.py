"""What the tests of the core share."""

import sys
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    """A small Ray on this machine, for the tests that need one."""
    import ray

    ray.init(num_cpus=4, object_store_memory=80_000_000, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def _ray_where_it_is_needed(request: pytest.FixtureRequest) -> None:
    callspec = getattr(request.node, "callspec", None)
    if callspec is not None and callspec.params.get("backend") == "ray":
        request.getfixturevalue("local_ray")
