"""Every id of the pack keeps the contract. `test_data_sets` checks those that need a local copy."""

from gem.testing import contract_tests
from gem_envs_math.plugin import gem_envs
from gem_envs_math.sources import SOURCES

test_contract = contract_tests(*sorted({spec.id for spec in gem_envs()} - {source.id for source in SOURCES}))
