"""A framework that is missing, too old or too new is named, with what to install."""

import importlib
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from gem.errors import ConfigError, MissingExtra
from gem_interop import versions
from gem_interop.versions import check


def test_a_missing_framework_is_named():
    with pytest.raises(MissingExtra, match=r"no-such-trainer is not installed: pip install no-such-trainer==1\.2\.0"):
        check("no-such-trainer", "1.0.0", "1.2.0")
    with pytest.raises(MissingExtra, match=r"no-such-trainer is not installed: pip install git\+https://host/it"):
        check("no-such-trainer", "1.0.0", "1.2.0", "git+https://host/it")


@pytest.mark.parametrize(
    "module", ["nemo_gym", "openrlhf", "skyrl", "slime", "tinker", "trl", "verifiers", "verl"]
)  # RL2 is its source
def test_a_module_names_its_missing_framework_before_it_imports_it(module, monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(versions, "version", missing)
    monkeypatch.delitem(sys.modules, f"gem_interop.{module}", raising=False)
    page = rf"is not installed: pip install \S+; what it needs besides is in docs/frameworks/{module}\.md"
    with pytest.raises(MissingExtra, match=page):
        importlib.import_module(f"gem_interop.{module}")


def test_versions_that_were_not_run_are_named():
    with pytest.raises(ConfigError, match=r"pytest \S+ is too old, and GEM needs 999\.1: pip install pytest==999\.2"):
        check("pytest", "999.1", "999.2")
    with pytest.warns(UserWarning, match=r"pytest \S+ is newer than 1\.2\.0, the last version"):
        check("pytest", "1.0.0", "1.2.0")
    check("pytest", "1.0", "999.0rc1")
