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

from gem.cli.main import main
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


def ranks(store: dist.TCPStore, size: int) -> list[dict[str, str]]:
    """The variables that torchrun gives to each of so many processes; the store is of `own_store`."""
    known = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "WORLD_SIZE": str(size),
    }
    return [{**known, "RANK": str(rank)} for rank in range(size)]


def own_store() -> dist.TCPStore:
    """A store of this process's, as torchrun's agent has it: no other process can take its port meanwhile."""
    return dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)


def run_in_two(command: list[str], out: Path) -> str:
    """Run a command of `gemx` in two processes without torchrun; returns what they printed, kept in the file `out`."""
    store = own_store()
    processes = [started(_command, known, command, out) for known in ranks(store, 2)]
    for process in processes:
        process.join(300)
        process.kill()
        process.join()
    printed = out.read_text()
    assert [process.exitcode for process in processes] == [0, 0], printed
    return printed


def _command(known: dict[str, str], command: list[str], out: Path) -> None:
    os.environ.update(known)
    to = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(to, 1)
    os.dup2(to, 2)
    main(command)


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
        self._store = own_store()
        pipes = [multiprocessing.Pipe() for _ in range(size)]
        self._processes = [
            started(_calculate, known, module, folder, context, theirs)
            for known, (_, theirs) in zip(ranks(self._store, size), pipes, strict=True)
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
