"""Another world: a process with another time, machine and order of episodes, which plays them again."""

import os
import platform
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from unittest import mock

from gem import roles
from gem.audit.later import later, put_dates_forward
from gem.audit.task import make_task
from gem.audit.watching import Watch
from gem.core import Env
from gem.packs.spec import EnvSpec
from gem.roles import RoleSettings
from gem.testing.play import Transition, play, replay_actions
from gem.work.guarded import GuardedProcess

FACTORS = {
    "time": {"TZ": "Pacific/Kiritimati"},
    "locale": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "user and folder": {"USER": "somebody", "LOGNAME": "somebody"},
    "machine": {"HOSTNAME": "elsewhere"},
    "order of episodes": {},
}
"""What differs in another world → environment variables for that."""

Transitions = tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What episodes were in another world, and what they touched."""

    episodes: Sequence[Transitions]
    """In the order asked for; none if the env raised."""
    error: str = ""
    """What it raised, as a clause."""
    connections: Sequence[str] = ()
    """The addresses that were asked for, other than this machine's."""
    written: Sequence[str] = ()
    """Files that were opened for writing, other than temporary ones and caches."""


class World:
    """A process in which the `factors` differ, a key of `FACTORS` each; without any it is like this one.

    It cannot reach other machines. A job may last `limit` seconds.
    """

    def __init__(self, factors: Sequence[str], limit: float) -> None:
        self._factors = list(factors)
        self._limit = limit
        self._open = ExitStack()

    def __enter__(self) -> Self:
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="gem-world-")))
        environment = {name: value for factor in self._factors for name, value in FACTORS[factor].items()}
        if "user and folder" in self._factors:
            environment["HOME"] = str(_like(Path.home(), folder / "home"))
            (folder / "work").mkdir()
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        worker = "gem.audit.world:Player"
        self._process = GuardedProcess(worker, self._limit, environment=environment, group=False)
        self._open.callback(self._process.close)
        self._folder = folder
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def play(self, spec: EnvSpec, plays: Sequence[tuple[int, Sequence[str]]], of_parent: RoleSettings | None) -> Seen:
        """The episodes of these seeds and actions there. Raises `gem.work.guarded.JobStopped`."""
        return self._process.run(self._factors, str(self._folder), spec, plays, of_parent)


def _like(home: Path, folder: Path) -> Path:
    """A home folder with all that is in `home`, under another name."""
    folder.mkdir()
    for each in home.iterdir() if home.is_dir() else ():
        (folder / each.name).symlink_to(each)
    return folder


class Player(ExitStack):
    """What the process does. It keeps its world until it ends."""

    def __call__(
        self,
        factors: Sequence[str],
        folder: str,
        spec: EnvSpec,
        plays: Sequence[tuple[int, Sequence[str]]],
        of_parent: RoleSettings | None,
    ) -> Seen:
        roles.take_over(of_parent)
        if "user and folder" in factors:
            sys.path[:] = [os.path.abspath(each) for each in sys.path]
            os.chdir(Path(folder, "work"))
        if "time" in factors:
            self.enter_context(later())
        if "machine" in factors:
            cores = (os.cpu_count() or 1) + 3
            for owner, name, value in (
                (socket, "gethostname", "elsewhere"),
                (platform, "node", "elsewhere"),
                (os, "cpu_count", cores),
            ):
                self.enter_context(mock.patch.object(owner, name, lambda value=value: value))
        watch = Watch(folder)
        found: list[Transitions] = []
        error = ""
        try:
            if "time" in factors:
                with make_task(spec) as env:  # which imports what it needs
                    env.reset(seed=plays[0][0])
                put_dates_forward()
            if "order of episodes" in factors:
                with make_task(spec) as env:
                    found = [_replayed(env, *each) for each in reversed(plays)][::-1]
            else:
                found = play_fresh(spec, plays)
        except Exception as raised:
            place = traceback.extract_tb(raised.__traceback__)[-1]
            error = f"it raised {type(raised).__name__}: {raised} ({place.filename}, line {place.lineno})"
        return Seen(found, error, sorted(watch.connections), sorted(watch.written))


def play_fresh(spec: EnvSpec, plays: Sequence[tuple[int, Sequence[str]]]) -> list[Transitions]:
    """The episodes of these seeds and actions, each in a new env."""
    found: list[Transitions] = []
    for each in plays:
        with make_task(spec) as env:
            found.append(_replayed(env, *each))
    return found


def _replayed(env: Env, seed: int, actions: Sequence[str]) -> Transitions:
    return play(env, seed, len(actions), replay_actions(actions)).without_raw().transitions
