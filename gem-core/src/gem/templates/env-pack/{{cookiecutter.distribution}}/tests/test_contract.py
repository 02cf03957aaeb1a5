"""Each `{{ cookiecutter.namespace }}:` id keeps the contract and is sound; README and train.toml name those there are."""

import re
from pathlib import Path

from {{ cookiecutter.package }}.plugin import gem_envs

from gem.testing import audit_tests, contract_tests

test_contract = contract_tests("{{ cookiecutter.distribution }}")
test_audit = audit_tests("{{ cookiecutter.distribution }}")


def test_the_readme_and_the_settings_name_the_ids_that_there_are():
    folder = Path(__file__).parent.parent
    text = "".join((folder / name).read_text("utf-8") for name in ("README.md", "train.toml"))
    assert set(re.findall(r"\b{{ cookiecutter.namespace }}:[A-Z][\w-]*", text)) == {spec.id for spec in gem_envs()}
