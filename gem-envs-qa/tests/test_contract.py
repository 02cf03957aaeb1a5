"""An id whose rows ship and one that is generated keep the contract; test_data_sets.py checks all the others, too."""

from gem.testing import contract_tests

test_contract = contract_tests("qa:Sample", "logic:Rules-v0-open")
