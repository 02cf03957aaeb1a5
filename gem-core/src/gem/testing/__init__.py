"""The contract as tests: for `gemx check`, and for the tests of a pack:

```python
from gem.testing import contract_tests

test_contract = contract_tests("gem-envs-maze")
```

This is one test per check and environment of the pack, run by the pytest plugin of gem-core.
"""

from collections.abc import Callable


def contract_tests(*names: str, episodes: int | None = None) -> Callable[..., None]:
    """A test function that pytest runs once for each check and each of the environments.

    Args:
        names: ids, `"module:Class"`, or packs by distribution or namespace.
        episodes: the episodes that a check plays; the option `--gem-episodes` of pytest overrides it.
    """
    import pytest

    @pytest.mark.gem_contract(*names, episodes=episodes)
    def test_contract(gem_check: Callable[[], None]) -> None:
        gem_check()

    return test_contract
