"""Every id of the pack keeps the contract. `test_data_sets` checks those that need a local copy."""

import pytest

from gem.testing import contract_tests
from gem_envs_math.plugin import gem_envs
from gem_envs_math.sources import SOURCES

IDS = {spec.id for spec in gem_envs()} - {source.id for source in SOURCES}
DRAWN = {"math:Geometry-v0-easy-drawn", "math:Geometry-v0-hard-drawn"}

test_contract = contract_tests(*sorted(IDS - DRAWN))
# One difficulty is enough for `make test`.
test_contract_of_other_drawings = pytest.mark.full(contract_tests(*sorted(DRAWN)))
