"""`Sandbox`: a few slots, and programs that wait in a queue for them."""

import asyncio
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from gem_sandbox.cases import Case, Same, Stop, Verdict, run_cases, same_output
from gem_sandbox.checks import check_int, check_type
from gem_sandbox.errors import ConfigError, SandboxUnavailable
from gem_sandbox.files import footprint, whole_pages
from gem_sandbox.job import Job
from gem_sandbox.levels import Level, check_levels
from gem_sandbox.limits import Limits
from gem_sandbox.probe import open_slot
from gem_sandbox.results import Result, lost, result
from gem_sandbox.slot import Outcome, SandboxSlot, SlotGone, SlotLost, encoded
from gem_sandbox.visible import View, view


class NotIsolated(UserWarning):
    """Programs run with limits alone, and can do to this machine everything that its user can."""


class Sandbox:
    """Runs untrusted programs, several at once, each in a process of its own that sees next to nothing.

    ```python
    with Sandbox(slots=2) as box:
        print(box.run("print(1 + 1)").stdout)
    ```

    Threads may share it; programs beyond the number of slots wait their turn. Slots start when they are first needed,
    and one that died is replaced.

    Args:
        slots: Programs that run at once. None: as many as this process has processors.
        modules: Modules that programs can import beside the standard library, imported once for all of them.
        readable: Files and folders of this machine that programs can read.
        level: How to keep them in. None: the strongest way that works here.
        min_level: The weakest way to take, where `level` is None.
        limits: What a program may use, where its job does not say.

    Raises:
        SandboxUnavailable: when the first program runs: nothing as strong as that works here.
        ModuleMissing: a module of `modules` is not installed.
        ConfigError: an argument is of another type, or out of range.
    """

    def __init__(
        self,
        *,
        slots: int | None = None,
        modules: Sequence[str] = (),
        readable: Sequence[str] = (),
        level: Level | None = None,
        min_level: Level = "landlock",
        limits: Limits | None = None,
    ) -> None:
        check_levels(level, min_level)
        if limits is not None:
            check_type("limits", limits, Limits)
        if min_level == "process" and level is None:
            raise ConfigError("no isolation at all must be asked for by name: level='process'")
        if level == "process":
            warnings.warn("programs run with limits alone (level='process')", NotIsolated, stacklevel=2)
        self.slots = _processors() if slots is None else check_int("slots", slots, 1)
        self.limits = limits or Limits()
        self._level: Level | None = level
        self._min_level: Level = min_level
        self._modules = _names("modules", modules)
        self._view: View = view(self._modules, _names("readable", readable))
        self._closed = False
        self._begin()
        _live.add(self)

    def _begin(self) -> None:
        """The state of a sandbox none of whose slots has started."""
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(self.slots)
        self._idle: list[SandboxSlot] = []
        self._threads: ThreadPoolExecutor | None = None

    def run(
        self,
        code: str,
        *,
        stdin: str | bytes = "",
        files: Mapping[str, str | bytes] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> Result:
        """Run `code` and wait for its end. `changes` are limits by name, such as `timeout=2.0`.

        Raises:
            ConfigError: an argument is of another type, a limit is out of range, or a keyword is not a limit.
        """
        return self.run_job(self._job(code, stdin, files, limits, changes))

    async def arun(
        self,
        code: str,
        *,
        stdin: str | bytes = "",
        files: Mapping[str, str | bytes] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> Result:
        """`run`, for coroutines. One that is cancelled waits no longer; its program runs on to its end."""
        job = self._job(code, stdin, files, limits, changes)
        return await asyncio.get_running_loop().run_in_executor(self._executor(), self.run_job, job)

    def run_many(self, jobs: Iterable[Job | str]) -> list[Result]:
        """Run programs, as many at once as there are slots. Results come in the order of the jobs.

        Raises:
            ConfigError: a job is neither a `Job` nor a program, or `jobs` is one program.
        """
        if isinstance(jobs, str):  # whose letters would be run
            raise ConfigError("jobs is a list of programs, not one program")
        check_type("jobs", jobs, Iterable)
        made = [job if isinstance(job, Job) else Job(code=job) for job in jobs]
        return list(self._executor().map(self.run_job, made))

    def run_tests(
        self,
        code: str,
        cases: Iterable[Case],
        *,
        same: Same = same_output,
        stop: Stop = "failure",
        files: Mapping[str, str | bytes] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> Verdict:
        """Run `code` on each input of `cases`, pairs of an input and the expected output: see `run_cases`.

        Raises:
            SandboxLost: the sandbox failed; nothing is known about the program.
            ConfigError: `cases` is empty, `stop` is not one of the three, or an argument that `run` refuses.
        """
        job = self._job(code, "", files, limits, changes)
        most = job.limits or self.limits
        return run_cases(lambda stdin: self.play(job, stdin, most), cases, most, same, stop)

    def run_job(self, job: Job) -> Result:
        """Run one job and wait for its end."""
        limits = job.limits or self.limits
        try:
            level, outcome = self.play(job, encoded(job.stdin), limits)
        except SlotLost as error:
            return lost(str(error), error.level)
        return result(outcome, limits, level)

    def play(self, job: Job, stdin: bytes, limits: Limits) -> tuple[Level, Outcome]:
        """Run `job` on the input `stdin`, in the next free slot.

        Raises:
            SlotLost: the slot died with it.
        """
        sizes = {name: len(encoded(content)) for name, content in job.files.items()}
        room, things = footprint(sizes)
        if sum(sizes.values()) > limits.disk or room > whole_pages(limits.disk) or things > limits.inodes:
            most = f"a disk of {limits.disk} bytes and {limits.inodes} files and folders"
            raise ConfigError(f"its files take {room} bytes and are {things} with their folders, too many for {most}: "
                              "raise `disk` or `inodes`")  # fmt: skip
        with self._turns:
            while True:
                slot = self._take()
                try:
                    if limits.processes and slot.level in ("landlock", "seccomp"):
                        raise SandboxUnavailable(f"processes need namespaces, which level {slot.level} has not")
                    outcome = slot.run(job, stdin, limits)
                except SlotGone:
                    slot.close()
                    continue
                except BaseException:
                    slot.close()
                    raise
                self._give(slot)
                return slot.level, outcome

    def _job(
        self,
        code: str,
        stdin: str | bytes,
        files: Mapping[str, str | bytes] | None,
        limits: Limits | None,
        changes: dict[str, Any],
    ) -> Job:
        if limits is None:
            limits = self.limits
        else:
            check_type("limits", limits, Limits)
        return Job(code=code, stdin=stdin, files={} if files is None else files, limits=limits.changed(changes))

    def _take(self) -> SandboxSlot:
        with self._lock:
            if self._closed:
                raise RuntimeError("this sandbox is closed")
            if self._idle:
                return self._idle.pop()
        return open_slot(self._view, self._modules, self._level, self._min_level)

    def _give(self, slot: SandboxSlot) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(slot)
                return
        slot.close()

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.slots, thread_name_prefix="gem-sandbox")
            return self._threads

    def close(self) -> None:
        """End every slot. Programs that are running finish first, in their own threads."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            threads, self._threads = self._threads, None
        for slot in idle:
            slot.close()
        if threads is not None:
            threads.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _forget(self) -> None:
        """In the child of a fork: the slots are the parent's."""
        for slot in self._idle:
            slot.forget()
        self._begin()


_live: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def _after_fork() -> None:
    for box in list(_live):
        box._forget()  # pyright: ignore[reportPrivateUsage]


def _names(name: str, value: Sequence[str]) -> tuple[str, ...]:
    """`value`, that of the argument `name`, as a tuple, if it is a list of texts."""
    if isinstance(value, str):
        raise ConfigError(f"{name} is a list, not a text: write {name}=[{value!r}]")
    check_type(name, value, Iterable)
    names = tuple(value)
    for each in names:
        check_type(f"each of {name}", each, str)
    return names


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_after_fork)
