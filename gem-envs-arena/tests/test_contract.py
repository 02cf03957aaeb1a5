"""Every `arena:` id keeps the contract."""

from gem.testing import contract_tests

test_contract = contract_tests("gem-envs-arena")
