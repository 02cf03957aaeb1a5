"""Environments that keep every promise but one: they leave something behind when they are closed."""

import multiprocessing
import os
import subprocess
import tempfile
import threading
from pathlib import Path

from planted_envs import Good

RELEASE = threading.Event()
PROCESSES: list[subprocess.Popen[bytes]] = []
DESCRIPTORS: list[int] = []
FILES: list[str] = []


def clean_up():
    """Give back what the envs below have left behind."""
    RELEASE.set()
    while PROCESSES:
        process = PROCESSES.pop()
        process.kill()
        process.wait()
    while DESCRIPTORS:
        os.close(DESCRIPTORS.pop())
    while FILES:
        Path(FILES.pop()).unlink(missing_ok=True)


class LeavesAFileOpen(Good):
    def __init__(self):
        super().__init__()
        DESCRIPTORS.append(os.open(os.devnull, os.O_RDONLY))


class LeavesAFile(Good):
    def __init__(self):
        super().__init__()
        # Nobody cleans up after a spawned process.
        if multiprocessing.parent_process() is None:
            descriptor, path = tempfile.mkstemp(prefix="planted-")
            os.close(descriptor)
            FILES.append(path)


class LeavesAThread(Good):
    def __init__(self):
        super().__init__()
        RELEASE.clear()
        threading.Thread(target=RELEASE.wait, name="planted", daemon=True).start()


class LeavesAProcess(Good):
    def __init__(self):
        super().__init__()
        PROCESSES.append(subprocess.Popen(["sleep", "60"]))


class LeavesAZombie(Good):
    def __init__(self):
        super().__init__()
        PROCESSES.append(subprocess.Popen(["true"]))


class ClosesOnce(Good):
    closed = False

    def close(self):
        if self.closed:
            raise ValueError("closed already")
        self.closed = True
