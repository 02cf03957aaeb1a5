"""Processes that train on this machine, for tests; what they import is imported once."""

import importlib
import multiprocessing
import os
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

import torch
import torch.distributed as dist

from gem_train.distributed.processes import connect

_IMPORTED = ["gem_train.train", "gem_train.sft.imitation", "gem_train.runs.display", "gem.wrappers"]


def started(target: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """A process that calls `target`, with one thread, as a fork of one that has imported the trainer."""
    # A run of `faulty.py` is forked itself: it has no threads.
    context: Any = multiprocessing.get_context("fork" if multiprocessing.parent_process() else "forkserver")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(_IMPORTED)
    process = context.Process(target=_begun, args=(target, *arguments))
    process.start()
    return process


def _begun(target: Callable[..., Any], *arguments: Any) -> None:
    warnings.simplefilter("default")  # a fork of pytest has its filters, which make errors of warnings
    torch.set_num_threads(1)
    target(*arguments)


class Processes:
    """Processes that calculate together what they are asked for, over gloo and without torchrun; a context.

    Args:
        size: number of processes.
        module: name of the module with `CALCULATIONS`, functions of the world by name.
        folder: for what is found; an empty one.
        context: number of processes that share each sequence.
    """

    def __init__(self, size: int, module: str, folder: Path, context: int = 1) -> None:
        self._folder = folder
        # The ports are the store's, as torchrun's agent has it: no other process can take them meanwhile.
        self._store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        known = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self._store.port),
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            "WORLD_SIZE": str(size),
        }
        pipes = [multiprocessing.Pipe() for _ in range(size)]
        self._processes = [
            started(_calculate, {**known, "RANK": str(rank)}, module, folder, context, theirs)
            for rank, (_, theirs) in enumerate(pipes)
        ]
        self._asked = [ours for ours, _ in pipes]
        for _, theirs in pipes:
            theirs.close()

    def __getitem__(self, name: str) -> list[Any]:
        """What each process finds by the calculation of this name, which is made once."""
        files = [self._folder / f"{name}.{rank}.pt" for rank in range(len(self._processes))]
        if not files[0].exists():
            for asked in self._asked:
                asked.send(name)
            for asked in self._asked:
                while not asked.poll(0.1):
                    assert all(process.is_alive() for process in self._processes), "one has ended: see its error"
                asked.recv()
        return [torch.load(file, weights_only=False) for file in files]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.join()


def _calculate(known: dict[str, str], module: str, folder: Path, context: int, asked: Connection) -> None:
    os.environ.update(known)
    works = importlib.import_module(module).CALCULATIONS
    with connect("cpu", 100, context) as world:
        while True:
            name = asked.recv()
            torch.save(works[name](world), folder / f"{name}.{world.rank}.pt")
            asked.send("done")
