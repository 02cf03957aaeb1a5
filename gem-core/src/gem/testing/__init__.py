"""The contract as a test: `gemx check`, and two lines in the tests of a pack.

```python
from gem.testing import contract_tests

test_contract = contract_tests("gem-envs-maze")
```

That is one test for each check and each environment of the pack. gem-core's pytest plugin, which is there wherever
gem-core is installed, runs them.
"""

from collections.abc import Callable


def contract_tests(*names: str, episodes: int | None = None) -> Callable[..., None]:
    """A test function that pytest runs once for each check and each of the environments.

    Args:
        names: ids, `"module:Class"`, or packs, by their distribution or namespace.
        episodes: how many a check plays; pytest's option `--gem-episodes` overrides it.
    """
    import pytest

    @pytest.mark.gem_contract(*names, episodes=episodes)
    def test_contract(gem_check: Callable[[], None]) -> None:
        gem_check()

    return test_contract
