"""Waiting for a processor: what a program on a busy machine does when it neither computes nor sleeps."""

import os
from typing import NamedTuple

PATIENCE = 300.0
"""Seconds that a program may have to wait because of others until its machine counts as too busy."""


class Waiting(NamedTuple):
    """The waiting of a process.

    Attributes:
        waited: Seconds that its threads have waited for a processor, in all.
        ready: Whether one of them computes or waits for a processor now.
        threads: How many it has.
    """

    waited: float = 0.0
    ready: bool = False
    threads: int = 0

    def for_others(self, cpu: float) -> float:
        """Seconds, at least, that it has waited because of others, if it has computed for `cpu` seconds itself.

        While one of its threads computes, each of the others may have to wait for that.
        """
        return self.waited - self.threads * cpu


def look(process: int) -> Waiting:
    """The waiting of the process of a pidfd. What cannot be looked at has not waited.

    Linux `Documentation/scheduler/sched-stats.rst`, "/proc/<pid>/schedstat": nanoseconds on a processor and ready for
    one, and the number of time slices.
    """
    try:
        with open(f"/proc/self/fdinfo/{process}", "rb") as file:
            pid = next(int(line.split()[1]) for line in file if line.startswith(b"Pid:"))
        found = [_thread(f"/proc/{pid}/task/{each}") for each in os.listdir(f"/proc/{pid}/task")]
    except (OSError, StopIteration):  # it has ended, or there is no /proc
        return Waiting()
    return Waiting(sum(waited for waited, _ in found), any(ready for _, ready in found), len(found))


def _thread(folder: str) -> tuple[float, bool]:
    try:
        with open(f"{folder}/schedstat", "rb") as schedule, open(f"{folder}/stat", "rb") as status:
            ready = status.read().rpartition(b") ")[2][:1] == b"R"
            return int(schedule.read().split()[1]) / 1e9, ready
    except (OSError, IndexError):  # a thread that has ended, or a kernel that does not count
        return 0.0, False
