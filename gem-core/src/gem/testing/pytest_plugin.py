"""The pytest plugin of gem-core: runs what `gem.testing.contract_tests` and `audit_tests` return.

pytest imports this module in every project where gem-core is installed, so everything else is imported when needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gem.packs.registry import RegistryEntry
    from gem.testing.guard import Guard
    from gem.work.guarded import GuardedProcess

MARKER = "gem_contract"
AUDIT_MARKER = "gem_audit"


def _positive(number: type[float], text: str) -> float:
    if not number(text) > 0:
        raise ValueError(text)
    return number(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gem", "the contract of GEM's environments, and their audit")
    episodes, seconds = "Episodes that each check of an environment plays.", "The time limit of each check and probe."
    group.addoption("--gem-episodes", type=partial(_positive, int), metavar="N", help=episodes)
    group.addoption("--gem-timeout", type=partial(_positive, float), metavar="SECONDS", help=seconds)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARKER}(*names, episodes): check environments or packs; gem.testing.contract_tests sets it"
    )
    config.addinivalue_line("markers", f"{AUDIT_MARKER}(*names): audit environments or packs; audit_tests sets it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if (marker := metafunc.definition.get_closest_marker(AUDIT_MARKER)) is not None:
        entries = _entries(marker.args)
        metafunc.parametrize("gem_audit", entries.values(), ids=entries, indirect=True)
    if (marker := metafunc.definition.get_closest_marker(MARKER)) is None:
        return
    from gem.testing.checks import CHECKS
    from gem.testing.subject import EPISODES

    episodes: int = metafunc.config.getoption("gem_episodes") or marker.kwargs["episodes"] or EPISODES
    metafunc.parametrize(
        "gem_check",
        [
            pytest.param((entry, name, episodes), id=f"{id}-{name}")
            for id, entry in _entries(marker.args).items()
            for name in CHECKS
        ],
        indirect=True,
    )


def _entries(names: Iterable[str]) -> "Mapping[str, RegistryEntry]":
    from gem.errors import GemError
    from gem.testing.subject import find_entries

    try:
        return {entry.spec.id: entry for name in names for entry in find_entries(name)}
    except GemError as error:
        raise pytest.Collector.CollectError(str(error)) from error


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


@pytest.fixture(scope="session")
def _gem_auditor(pytestconfig: pytest.Config) -> Iterator["GuardedProcess"]:  # pyright: ignore[reportUnusedFunction]
    """The process of the audit."""
    from gem.audit.auditing import LIMIT, WORKER
    from gem.work.guarded import GuardedProcess

    with GuardedProcess(WORKER, pytestconfig.getoption("gem_timeout") or LIMIT) as process:
        yield process


@pytest.fixture
def gem_audit(request: pytest.FixtureRequest, _gem_auditor: "GuardedProcess") -> Callable[[], None]:
    """The audit of one environment, ready to run."""

    def run() -> None:
        from gem import roles
        from gem.audit.auditing import card_of, probes

        card = card_of(_gem_auditor, request.param, probes(), roles.settings())
        if not card.sound:
            found = [outcome for outcome in card.outcomes if outcome.state == "found"]
            lines = [
                line
                for outcome in found
                for finding in outcome.findings
                for line in (outcome.traceback, f"{outcome.probe}: {finding.what}", finding.fix, finding.shown_by)
            ]
            pytest.fail("\n".join(filter(None, lines)), pytrace=False)
        if all(outcome.state == "skipped" for outcome in card.outcomes):
            pytest.skip(card.outcomes[0].reason)

    return run
