"""The table of the checks, and running them."""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gem.errors import ContractViolation, GemError, MissingExtra
from gem.testing import imports, leaks, lifecycle, players, randomness, replies, returns, snapshots
from gem.testing.subject import Inapplicable, Subject

ContractCheck = Callable[[Subject], None]

_CHECKS: tuple[ContractCheck, ...] = (
    returns.check_types,
    returns.check_endings,
    players.check_players,
    lifecycle.check_reset_needed,
    lifecycle.check_episode_over,
    lifecycle.check_resets,
    lifecycle.check_history,
    randomness.check_independence,
    randomness.check_own_generators,
    randomness.check_suggestions,
    randomness.check_determinism,
    randomness.check_spawning,
    snapshots.check_snapshots,
    returns.check_sample_action,
    replies.check_junk,
    replies.check_expert,
    leaks.check_leaks,
    imports.check_imports,
)

CHECKS: Mapping[str, ContractCheck] = {check.__name__.removeprefix("check_"): check for check in _CHECKS}
"""Name → check. A check raises `ContractViolation` if the env violates the contract."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The result of one check."""

    check: str
    state: Literal["passed", "failed", "skipped"]
    what: str = ""
    """The problem, or why the check was skipped."""
    fix: str = ""
    """How to fix it."""
    traceback: str | None = None
    """The traceback of an exception of the env."""


def raised(error: BaseException) -> str:
    """What is said of an exception of an env, as a sentence."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    at = "" if isinstance(error, GemError) else f" ({place.filename}, line {place.lineno})"
    what = f"The env raised {type(error).__name__}: {error}{at}"
    return what if what.endswith((".", "?")) else f"{what}."


def run_check(name: str, subject: Subject) -> CheckOutcome:
    """Run one check. Exceptions of the env, even SystemExit, become a failed outcome."""
    if subject.unavailable:
        return CheckOutcome(name, "skipped", subject.unavailable)
    try:
        CHECKS[name](subject)
    except ContractViolation as violation:
        return CheckOutcome(name, "failed", violation.what, violation.fix)
    except (Inapplicable, MissingExtra) as reason:
        return CheckOutcome(name, "skipped", str(reason))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = raised(error)
        fix = "Fix that error first; `gemx --debug check` shows its traceback."
        return CheckOutcome(name, "failed", what, fix, "".join(traceback.format_exception(error)))
    return CheckOutcome(name, "passed")


def run_checks(subject: Subject, names: Iterable[str] = CHECKS) -> Iterator[CheckOutcome]:
    """Run the named checks in order."""
    for name in names:
        yield run_check(name, subject)


def summary(name: str) -> str:
    """What a check requires, on one line."""
    return (CHECKS[name].__doc__ or "").partition("\n")[0]
