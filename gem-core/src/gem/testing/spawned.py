"""Spawned processes that play episodes for the checks.

Each has another hash seed, so that a dependence on `hash()` or the order of a set shows. They are kept, because
starting a process costs more than most checks.
"""

import pickle
import socket
import time
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from gem import roles
from gem.packs.make import make
from gem.packs.spec import EnvSpec
from gem.testing.play import PlayedEpisode, play
from gem.work.channel import Channel, Ended
from gem.work.process import STDERR, WorkerProcess
from gem.work.script import loads_with_script, with_script

HASH_SEEDS = (1, 2)
TIMEOUT = 300.0
"""The time limit of a job in seconds."""


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """Why a process could not play."""

    what: str


class SpawnedProcesses:
    """One process per hash seed, started when needed and kept until `close`."""

    def __init__(self) -> None:
        self._workers: dict[int, WorkerProcess] = {}

    def play(self, spec: EnvSpec, seeds: Sequence[int], turns: int) -> list[list[PlayedEpisode] | NotPlayed]:
        """The episodes of `seeds` under random play in each process."""
        try:
            job = with_script(pickle.dumps((spec, list(seeds), turns, roles.settings())))
        except Exception as error:
            return [NotPlayed(f"pickling the spec raised {type(error).__name__}: {error}") for _ in HASH_SEEDS]
        for hash_seed in HASH_SEEDS:
            if hash_seed not in self._workers:
                self._workers[hash_seed] = WorkerProcess(
                    "gem.testing.spawned:serve",
                    environment={"PYTHONHASHSEED": str(hash_seed)},
                    group=False,  # it ends with the process of its checks
                    stdout=STDERR,  # output of the env must not mix with the standard output of this process
                )
            with suppress(Ended):  # which the answer will tell
                self._workers[hash_seed].channel.send(job)
        return [self._answer(hash_seed) for hash_seed in HASH_SEEDS]

    def _answer(self, hash_seed: int) -> list[PlayedEpisode] | NotPlayed:
        worker = self._workers[hash_seed]
        try:
            return pickle.loads(worker.channel.receive(time.monotonic() + TIMEOUT))
        except TimeoutError:
            fault = NotPlayed(f"it did not play its episodes within {TIMEOUT:g} s")
        except Ended:
            fault = NotPlayed(f"its process {worker.how_it_ended()}")
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


def play_fresh(spec: EnvSpec, seeds: Iterable[int], turns: int) -> list[PlayedEpisode]:
    """The episodes of `seeds` under random play, each in a new env."""
    plays: list[PlayedEpisode] = []
    for seed in seeds:
        with make(spec) as env:
            plays.append(play(env, seed, turns))
    return plays


def serve(number: int) -> None:
    """Run the process: jobs in, episodes out, by the socket `number`."""
    channel = Channel(socket.socket(fileno=number))
    with suppress(Ended):
        while True:
            channel.send(pickle.dumps(_played(channel.receive())))


def _played(job: bytes) -> list[PlayedEpisode] | NotPlayed:
    try:
        spec, seeds, turns, of_parent = loads_with_script(job)
        roles.take_over(of_parent)
        return [episode.without_raw() for episode in play_fresh(spec, seeds, turns)]
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return NotPlayed(f"it raised {type(error).__name__}: {error} ({place.filename}, line {place.lineno})")
