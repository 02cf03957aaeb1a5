"""Spawned processes that play episodes for the checks.

Each has another hash seed, so that a dependence on `hash()` or the order of a set shows. They are kept, because
starting a process costs more than most checks.
"""

import multiprocessing
import os
import pickle
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Self

from gem.packs.make import make
from gem.packs.spec import EnvSpec
from gem.testing.play import PlayedEpisode, play

HASH_SEEDS = (1, 2)
TIMEOUT = 300.0
"""The time limit of a job in seconds."""

_HASH_SEED = "PYTHONHASHSEED"


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """Why a process could not play."""

    what: str


class SpawnedProcesses:
    """One process per hash seed, started when needed and kept until `close`."""

    def __init__(self) -> None:
        self._workers: dict[int, _SpawnedProcess] = {}

    def play(self, spec: EnvSpec, seeds: Sequence[int], turns: int) -> list[list[PlayedEpisode] | NotPlayed]:
        """The episodes of `seeds` under random play in each process."""
        try:
            job = pickle.dumps((spec, list(seeds), turns))
        except Exception as error:
            return [NotPlayed(f"pickling the spec raised {type(error).__name__}: {error}") for _ in HASH_SEEDS]
        for hash_seed in HASH_SEEDS:
            if hash_seed not in self._workers:
                self._workers[hash_seed] = _SpawnedProcess(hash_seed)
            self._workers[hash_seed].connection.send_bytes(job)
        return [self._answer(hash_seed) for hash_seed in HASH_SEEDS]

    def _answer(self, hash_seed: int) -> list[PlayedEpisode] | NotPlayed:
        worker = self._workers[hash_seed]
        try:
            if worker.connection.poll(TIMEOUT):
                return worker.connection.recv()
            fault = NotPlayed(f"it did not play its episodes within {TIMEOUT:g} s")
        except (EOFError, ConnectionResetError):
            worker.process.join()
            fault = NotPlayed(f"its process ended with exit code {worker.process.exitcode}")
        self._workers.pop(hash_seed).close()
        return fault

    def close(self) -> None:
        """End the processes."""
        while self._workers:
            self._workers.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _SpawnedProcess:
    def __init__(self, hash_seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        before = os.environ.get(_HASH_SEED)
        os.environ[_HASH_SEED] = str(hash_seed)  # read when an interpreter starts
        try:
            self.process.start()
        finally:
            if before is None:
                del os.environ[_HASH_SEED]
            else:
                os.environ[_HASH_SEED] = before
        theirs.close()

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


def play_fresh(spec: EnvSpec, seeds: Iterable[int], turns: int) -> list[PlayedEpisode]:
    """The episodes of `seeds` under random play, each in a new env."""
    plays: list[PlayedEpisode] = []
    for seed in seeds:
        with make(spec) as env:
            plays.append(play(env, seed, turns))
    return plays


def serve(connection: "Connection[Any, Any]") -> None:
    """The main function of a process: jobs in, episodes out."""
    # Output of the env must not mix with the standard output of the parent.
    os.dup2(2, 1)
    while True:
        try:
            job = connection.recv_bytes()
        except EOFError:
            return
        try:
            spec, seeds, turns = pickle.loads(job)
            answer = [episode.without_raw() for episode in play_fresh(spec, seeds, turns)]
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            answer = NotPlayed(f"it raised {type(error).__name__}: {error} ({place.filename}, line {place.lineno})")
        connection.send(answer)
