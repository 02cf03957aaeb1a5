"""Every `code:` id keeps the contract; those of data sets are checked on local copies in `test_questions`."""

import pytest

from gem.testing import contract_tests

test_contract = contract_tests("code:Basics-v0", "code:Puzzles-v0-easy")
test_contract_of_harder_puzzles = pytest.mark.full(contract_tests("code:Puzzles-v0", "code:Puzzles-v0-hard"))
