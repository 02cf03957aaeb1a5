"""The contract and the audit as tests: for `gemx check`, and for the tests of a pack:

```python
from gem.testing import audit_tests, contract_tests

test_contract = contract_tests("gem-envs-maze")
test_audit = audit_tests("gem-envs-maze")
```

This is one test per check and environment of the pack, and one per environment with all probes of `gem.audit`, run by
the pytest plugin of gem-core.
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


def audit_tests(*names: str) -> Callable[..., None]:
    """A test function that pytest runs once for each environment: `gemx audit` finds nothing in it.

    It fails with each finding that the spec does not explain (`known_findings`), and with how to see it again.

    Args:
        names: ids, `"module:Class"`, or packs by distribution or namespace.
    """
    import pytest

    @pytest.mark.gem_audit(*names)
    def test_audit(gem_audit: Callable[[], None]) -> None:
        gem_audit()

    return test_audit
