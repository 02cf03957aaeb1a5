"""Every `rg:` id keeps the contract."""

import pytest
from chosen_datasets import CHOSEN

from gem.testing import contract_tests
from gem_envs_reasoning.plugin import NAMES

test_contract = contract_tests(*(f"rg:{name}" for name in CHOSEN))
test_contract_of_the_other_datasets = pytest.mark.full(
    contract_tests(*(f"rg:{name}" for name in NAMES if name not in CHOSEN))
)
