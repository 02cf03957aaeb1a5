"""A framework that is missing, too old or too new is named, with what to install."""

import importlib
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from gem.errors import MissingExtra
from gem_interop import versions
from gem_interop.versions import check


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


def test_a_version_that_was_not_run_is_named():
    with pytest.warns(UserWarning, match="is newer than 1.2.0"):
        check("pytest", "1.0.0", "1.2.0")
    check("pytest", "1.0", "999.0rc1")
