"""The ids whose rows ship, and those that are generated, keep the contract; test_data_sets.py checks all the others."""

from gem.testing import contract_tests

test_contract = contract_tests("qa:Sample", "logic:Rules-v0", "logic:Rules-v0-open")
