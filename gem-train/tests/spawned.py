"""Processes of a run on this machine, over gloo on the CPU, without torchrun, for tests."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def found_by(size: int, program: str, folder: Path, *words: object) -> list[dict[str, Any]]:
    """What each of `size` processes of a program found.

    Args:
        size: number of processes.
        program: file that is run with `folder` and `words`, and leaves what it found in ``folder/RANK.pt``.
        folder: an empty one.
        words: other arguments.
    """
    # The ports are the store's, as torchrun's agent has it: no other process can take them meanwhile.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    known = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "TORCHELASTIC_USE_AGENT_STORE": "True"}
    processes = [
        subprocess.Popen(
            [sys.executable, program, str(folder), *map(str, words)],
            env={**os.environ, **known, "WORLD_SIZE": str(size), "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        printed = [process.communicate(timeout=500)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * size, "\n".join(printed)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(size)]
