"""Running checks in a separate process, so that an env that hangs or ends the process fails only its check."""

from collections import Counter
from contextlib import ExitStack
from typing import Self

from gem import roles
from gem.packs.discovery import Pack
from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec
from gem.roles import RoleSettings
from gem.testing.checks import CheckOutcome, run_check
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject
from gem.work.guarded import GuardedProcess, JobStopped, NotSent

LIMIT = 180.0
"""The default time limit of a check in seconds."""
_MAX_STOPPED = 2
"""The most checks of an env that may hang or end the process; later ones are not run, to save time."""


class Guard:
    """Runs checks in one process, which is started when needed and kept until `close`.

    After `limit` seconds, the traceback of a check is printed on standard error.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._process = GuardedProcess("gem.testing.guard:Checks", limit)
        self._stopped: Counter[str] = Counter()

    def run(self, name: str, entry: RegistryEntry, episodes: int) -> CheckOutcome:
        """The outcome of one check of an environment; never raises."""
        spec, pack = entry.spec, entry.pack and entry.pack.distribution
        if self._stopped[spec.id] >= _MAX_STOPPED:
            what = f"It was not run, because {_MAX_STOPPED} earlier checks did not finish."
            return CheckOutcome(name, "failed", what, "See their results.")
        try:
            return self._process.run(name, spec, pack, episodes, roles.settings())
        except JobStopped as stopped:
            self._stopped[spec.id] += 1
            if stopped.how is not None:
                what = f"The process that played the env {stopped.how}."
                fix = "Raise an exception instead: other envs may run in the same process. Close no files of others."
            else:
                limit = self._process.limit
                what = f"The check did not end within {limit:g} s; its traceback is on standard error."
                fix = "reset(), step() and close() must return; if they need more time, use --timeout."
        except NotSent as error:
            what = f"Pickling the spec, or the models of roles, raised {error}."
            fix = "The arguments of a spec must be plain data, and functions that play roles be those of a module."
        return CheckOutcome(name, "failed", what, fix)

    def close(self) -> None:
        """End the process and its children."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Checks(ExitStack):
    """What the process does: checks, of subjects that it keeps."""

    def __enter__(self) -> Self:
        self._spawned = self.enter_context(SpawnedProcesses())
        self._subjects: dict[tuple[str, int], Subject] = {}
        return self

    def __call__(
        self, name: str, spec: EnvSpec, distribution: str | None, episodes: int, of_parent: RoleSettings
    ) -> CheckOutcome:
        roles.take_over(of_parent)
        subject = Subject(spec, pack_of(spec, distribution), self._spawned, episodes)
        return run_check(name, self._subjects.setdefault((spec.id, episodes), subject))


def pack_of(spec: EnvSpec, distribution: str | None) -> Pack | None:
    """The pack of that distribution, which has registered `spec`; None without a distribution."""
    if distribution is None:
        return None
    return next(pack for pack in registry().load(spec.namespace) if pack.distribution == distribution)
