"""Every `code:` id keeps the contract; those of data sets are checked on local copies in `test_questions`."""

from gem.testing import contract_tests

test_contract = contract_tests("code:Basics-v0")
