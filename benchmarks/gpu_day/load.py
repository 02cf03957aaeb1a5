"""How busy a device is while something runs on it, and how much of its memory is in use."""

import subprocess
import time
from pathlib import Path
from statistics import fmean
from threading import Event, Thread
from typing import NamedTuple

_EVERY = 0.2
"""Seconds between two looks."""


class Sample(NamedTuple):
    """A look at the device."""

    at: float
    busy: float
    """Share of the time before it in which something ran."""
    bytes: int
    """Of its memory in use."""


class Load:
    """Looks at the GPU, by nvidia-smi, or at the cores of this machine, until it is left."""

    def __init__(self, cpu: bool) -> None:
        self.samples: list[Sample] = []
        self._cpu, self._ended = cpu, Event()
        self._thread = Thread(target=self._cores if cpu else self._gpu, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join(10)

    def idle(self, begin: float, end: float) -> float:
        """Share of the time between two moments, of `time.monotonic`, in which nothing ran."""
        return 1 - fmean([each.busy for each in self.samples if begin <= each.at <= end] or [float("nan")])

    @property
    def most(self) -> int:
        """The most bytes in use."""
        return max((each.bytes for each in self.samples), default=0)

    def _gpu(self) -> None:
        command = ["nvidia-smi", "--id=0", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
        with subprocess.Popen(
            [*command, f"-lms={1000 * _EVERY:.0f}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as looking:
            for line in looking.stdout or ():
                busy, used = line.split(",")
                self.samples.append(Sample(time.monotonic(), float(busy) / 100, int(used) * 2**20))
                if self._ended.is_set():
                    looking.terminate()

    def _cores(self) -> None:
        idle, whole = _ticks()
        while not self._ended.wait(_EVERY):
            now_idle, now = _ticks()
            if now > whole:
                used = 1024 * (_meminfo("MemTotal") - _meminfo("MemAvailable"))
                self.samples.append(Sample(time.monotonic(), 1 - (now_idle - idle) / (now - whole), used))
                idle, whole = now_idle, now


def _ticks() -> tuple[int, int]:
    """Idle and all ticks of the cores since the start of the machine."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks[:8])


def _meminfo(name: str) -> int:
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines[name].split()[0])
