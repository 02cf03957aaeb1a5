"""The pytest plugin of gem-core: runs what `gem.testing.contract_tests` returns.

pytest imports this module in every project where gem-core is installed, so everything else is imported when needed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gem.testing.guard import Guard

MARKER = "gem_contract"


def _positive(number: type[float], text: str) -> float:
    if not number(text) > 0:
        raise ValueError(text)
    return number(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gem", "the contract of GEM's environments")
    episodes, seconds = "Episodes that each check of an environment plays.", "The time limit of each check."
    group.addoption("--gem-episodes", type=partial(_positive, int), metavar="N", help=episodes)
    group.addoption("--gem-timeout", type=partial(_positive, float), metavar="SECONDS", help=seconds)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARKER}(*names, episodes): check environments or packs; gem.testing.contract_tests sets it"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    from gem.errors import GemError
    from gem.testing.checks import CHECKS
    from gem.testing.subject import EPISODES, find_entries

    try:
        entries = {entry.spec.id: entry for name in marker.args for entry in find_entries(name)}
    except GemError as error:
        raise pytest.Collector.CollectError(str(error)) from error
    episodes: int = metafunc.config.getoption("gem_episodes") or marker.kwargs["episodes"] or EPISODES
    metafunc.parametrize(
        "gem_check",
        [pytest.param((entry, name, episodes), id=f"{id}-{name}") for id, entry in entries.items() for name in CHECKS],
        indirect=True,
    )


@pytest.fixture(scope="session")
def _gem_guard(pytestconfig: pytest.Config) -> Iterator["Guard"]:  # pyright: ignore[reportUnusedFunction]
    """The process of the checks: an env that exits must not end pytest."""
    from gem.testing.guard import LIMIT, Guard

    with Guard(pytestconfig.getoption("gem_timeout") or LIMIT) as guard:
        yield guard


@pytest.fixture
def gem_check(request: pytest.FixtureRequest, _gem_guard: "Guard") -> Callable[[], None]:
    """One check of one environment, ready to run."""
    entry, name, episodes = request.param

    def run() -> None:
        outcome = _gem_guard.run(name, entry, episodes)
        if outcome.state == "skipped":
            pytest.skip(outcome.what)
        if outcome.state == "failed":
            # The traceback of a check does not help, except that of an exception of the env.
            pytest.fail("\n".join(filter(None, (outcome.traceback, outcome.what, outcome.fix))), pytrace=False)

    return run
