"""Running the probes, in a process of its own, so that an env that hangs or ends the process is a finding."""

import inspect
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from threading import Event

from gem import roles
from gem.audit.card import Card, ProbeOutcome
from gem.audit.finding import Finding
from gem.audit.task import Probe, Task
from gem.errors import MissingExtra
from gem.packs.lookup import find_named
from gem.packs.registry import RegistryEntry, registry, tables
from gem.packs.spec import EnvSpec
from gem.roles import RoleSettings
from gem.testing.checks import raised
from gem.testing.guard import pack_of
from gem.testing.subject import Inapplicable, find_entries
from gem.work.guarded import GuardedProcess, JobStopped, NotSent
from gem.work.threads import Threads

LIMIT = 120.0
"""The default time limit of a probe in seconds."""
WORKER = "gem.audit.auditing:Probes"
"""The worker of a `GuardedProcess` that audits."""
_MAX_STOPPED = 2
"""The most probes of an env that may hang or end the process; later ones are not run, to save time."""


def probes() -> list[str]:
    """The names of all probes, in the order in which they run: those of the core, then those of packs."""
    packs = sorted(registry().load(), key=lambda pack: pack.distribution != "gem-core")
    return [name for pack in packs for name in tables(pack)["probe"]]


def summary(name: str) -> str:
    """What a probe asks, in one line; `UnknownId` if there is none of that name."""
    return (inspect.getdoc(find_named("probe", name)) or "").partition("\n")[0]


def entries_of(names: Iterable[str]) -> dict[str, RegistryEntry]:
    """Id → entry of each environment that `names` means; see `audit`."""
    return {entry.spec.id: entry for name in names for entry in find_entries(name)}


def audit(
    *names: str,
    only: Sequence[str] = (),
    limit: float = LIMIT,
    jobs: int = 1,
    say: Callable[[str, str], object] = lambda name, probe: None,
) -> Iterator[Card]:
    """The card of each environment, in order, as its last probe ends.

    Args:
        names: ids, `"module:Class"`, or packs by distribution or namespace.
        only: the probes to run; by default all.
        limit: seconds of a probe, after which it is stopped and its environment has a finding.
        jobs: how many environments are audited at once, each in a process.
        say: called with the id and the probe before each, in any thread.

    Raises:
        UnknownId: there is no such id, pack or probe.
        PackError, ConfigError: see `gem.testing.subject.find_entries`.
    """
    entries = entries_of(names)
    for name in only:
        find_named("probe", name)
    chosen = tuple(only) or tuple(probes())
    of_roles, ended = roles.settings(), Event()
    free: SimpleQueue[GuardedProcess] = SimpleQueue()

    def said(name: str, probe: str) -> None:
        if ended.is_set():
            raise RuntimeError("the audit has ended")
        say(name, probe)

    def card(entry: RegistryEntry) -> Card:
        process = free.get()
        try:
            return card_of(process, entry, chosen, of_roles, said)
        finally:
            if ended.is_set():
                process.close()  # a job may have started it again
            free.put(process)

    threads = Threads("audit", jobs)
    with ExitStack() as stack:
        for _ in range(jobs):
            free.put(stack.enter_context(GuardedProcess(WORKER, limit)))
        stack.callback(threads.close)
        stack.callback(ended.set)
        for future in [threads.submit(partial(card, entry)) for entry in entries.values()]:
            yield future.result().get()


def card_of(
    process: GuardedProcess,
    entry: RegistryEntry,
    chosen: Sequence[str],
    of_roles: RoleSettings | None,
    say: Callable[[str, str], object] = lambda name, probe: None,
) -> Card:
    """The card of one environment.

    Args:
        process: of the worker `WORKER`.
        chosen: the probes to run.
        of_roles: which model plays which role.
        say: see `audit`.
    """
    began = time.monotonic()
    outcomes: list[ProbeOutcome] = []
    stopped = 0
    distribution = entry.pack.distribution if entry.pack else None
    for name in chosen:
        say(entry.spec.id, name)
        if stopped == _MAX_STOPPED:
            outcomes.append(ProbeOutcome(name, "skipped", reason=f"{_MAX_STOPPED} earlier probes did not finish"))
            continue
        try:
            outcome = process.run(name, entry.spec, distribution, of_roles)
        except JobStopped as error:
            stopped += 1
            outcome = ProbeOutcome(name, "found", (_unfinished(error, process.limit),))
        except NotSent as error:
            what = f"Pickling the spec, or the models of roles, raised {error}."
            fix = "The arguments of a spec must be plain data, and functions that play roles be those of a module."
            outcome = ProbeOutcome(name, "found", (Finding(what, fix),))
        outcomes.append(_known(outcome, entry.spec))
    return Card(entry.spec.id, distribution, tuple(outcomes), round(time.monotonic() - began, 2))


def _unfinished(error: JobStopped, limit: float) -> Finding:
    if error.how is None:
        what = f"The probe did not end within {limit:g} s; its traceback is on standard error."
        return Finding(what, "reset(), step() and close() must return; if they need more time, use --timeout.")
    what = f"The process that played the env {error.how}."
    return Finding(what, "Raise an exception instead: other envs may run in the same process.")


def _known(outcome: ProbeOutcome, spec: EnvSpec) -> ProbeOutcome:
    """The outcome, as known if the spec says why its findings stay."""
    reason = spec.known_findings.get(outcome.probe)
    if outcome.state != "found" or reason is None:
        return outcome
    return ProbeOutcome(outcome.probe, "known", outcome.findings, reason)


class Probes(ExitStack):
    """What the process does: probes, of the task that it keeps until another follows."""

    _task: Task | None = None

    def __call__(self, name: str, spec: EnvSpec, distribution: str | None, of_parent: RoleSettings) -> ProbeOutcome:
        roles.take_over(of_parent)
        if self._task is None or self._task.spec != spec:
            self._task = Task(spec, pack_of(spec, distribution))
        return run_probe(name, find_named("probe", name), self._task)


def run_probe(name: str, probe: Probe, task: Task) -> ProbeOutcome:
    """Run one probe in this process. Exceptions of the env, even SystemExit, become a finding."""
    if task.unavailable:
        return ProbeOutcome(name, "skipped", reason=task.unavailable)
    try:
        findings = tuple(probe(task))
    except (Inapplicable, MissingExtra) as reason:
        return ProbeOutcome(name, "skipped", reason=str(reason))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = raised(error)
        fix = "Fix that error first; `gemx check` says more about it."
        return ProbeOutcome(name, "found", (Finding(what, fix),), traceback="".join(traceback.format_exception(error)))
    return ProbeOutcome(name, "found" if findings else "sound", findings)
