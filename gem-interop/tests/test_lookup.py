"""Ids of other libraries where the library is missing: it is named, and everything else is listed without it."""

import ast
import sys
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import pytest

import gem
from gem.errors import MissingExtra
from gem.packs.registry import registry


@pytest.fixture
def nothing_installed(monkeypatch):
    def version(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr("gem_interop.versions.version", version)
    for name in ("gymnasium", "openenv", "skyrl", "textarena"):
        monkeypatch.delitem(sys.modules, f"gem_interop.envs.{name}", raising=False)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("id", "package"),
    [
        ("gymnasium:CartPole-v1", "gymnasium==1.4.0"),
        ("openenv:http://127.0.0.1:9", "websockets==17.4"),
        ("skyrl:gsm8k", "skyrl-gym==0.4.0"),
        ("textarena:GuessTheNumber-v0", "textarena==0.7.4"),
    ],
)
def test_a_library_that_is_missing_is_named(id, package):
    with pytest.raises(MissingExtra, match=rf"{package.partition('=')[0]} is not installed: pip install {package}"):
        gem.make(id)


def functions_of(module):
    """Read, not imported: most of the libraries are not here."""
    tree = ast.parse(Path(find_spec(module).origin).read_text(encoding="utf-8"))
    return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_every_source_leads_to_a_function():
    sources = {source.namespace: source for source, pack in registry().sources() if pack.distribution == "gem-interop"}

    assert set(sources) == {"gymnasium", "nemo", "openenv", "skyrl", "textarena"}
    assert [source.namespace for source in sources.values() if source.safe] == ["gymnasium", "textarena"]
    for source in sources.values():
        for at in filter(None, (source.resolve, source.names)):
            assert at.partition(":")[2] in functions_of(at.partition(":")[0]), at
