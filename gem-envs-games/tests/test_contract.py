"""Every `game:` id keeps the contract."""

import pytest

from gem.testing import contract_tests
from gem_envs_games.plugin import gem_envs

IDS = [spec.id for spec in gem_envs()]
CHOSEN = [
    # They draw the settings of most other ids.
    *(id for id in IDS if id.endswith("-random")),
    "game:GuessTheNumber-v0",
    "game:Sudoku-v0-easy-forgiving",
    "game:WikiGame-v0-easy",
]

test_contract = contract_tests(*CHOSEN)
test_contract_of_the_other_ids = pytest.mark.full(contract_tests(*(id for id in IDS if id not in CHOSEN)))
