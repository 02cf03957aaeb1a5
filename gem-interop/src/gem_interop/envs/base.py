"""Base of environments of other libraries: a seed, a snapshot without their help, and texts."""

import math
import random
import threading
import time
from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from gem.checks import check_int
from gem.core import Info, Observation, Step
from gem.errors import Fault, SnapshotError
from gem.turn_env import TurnEnv


class ForeignEnv(TurnEnv):
    """An environment that another library or a server plays.

    Every episode has a seed, which `_begin` gives to the other side: that of `reset`, or else one drawn from this env's
    generator. A snapshot is the seed and the actions: restoring it plays them again, so it takes as long as the episode
    took, and is refused where the other side does not repeat itself.
    """

    _unsaved: ClassVar[frozenset[str]] = TurnEnv._unsaved | {"_other"}

    _other: Any
    """The player: an env of the other library, or a connection."""
    _latest: Observation = ""

    @abstractmethod
    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        """Start an episode on the other side."""

    @abstractmethod
    def _answer(self, action: str) -> Step:
        """Carry out one reply there."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._given_seed = seed
        return super().reset(seed=seed, options=options)

    def _reset(self, options: Mapping[str, Any]) -> Observation:
        seed = self.rng.getrandbits(32) if self._given_seed is None else int(self._given_seed)
        self._start = (seed, dict(options))
        self._said: list[str] = []
        self._latest = self._begin(*self._start)
        return self._latest

    def _step(self, action: str) -> Step:
        self._said.append(action)
        step = self._answer(action)
        self._latest = step.observation
        return step

    def restore(self, state: bytes) -> None:
        super().restore(state)
        if self._over is None:
            return
        latest = self._begin(*self._start)
        for action in self._said:
            latest = self._answer(action).observation
        super().restore(state)
        if latest != self._latest:
            raise SnapshotError(
                f"{type(self).__name__} cannot be restored: the same seed and actions led to another observation, "
                f"{latest!r:.80} instead of {self._latest!r:.80}"
            )


def chosen_row(rows: Sequence[dict[str, Any]], seed: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """The row that the option `index` of a reset names, counted from 0, or else the one that the seed draws.

    Raises:
        ConfigError: there is no such row.
    """
    index = options.get("index")
    if index is None:
        index = random.Random(seed).randrange(len(rows))
    return rows[check_int("index", index, 0, len(rows) - 1)]


def readable(text: str) -> str:
    """A text of the other side that UTF-8 can encode: it may repeat a reply with a lone surrogate."""
    return text.encode(errors="replace").decode()


def plain(value: Any) -> Any:
    """Side information as plain data: numbers and arrays of NumPy as those of Python, and what is not data as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, str):
        return readable(value)
    return value if value is None or isinstance(value, int | float | bool) else repr(value)


LONGEST = 60.0
"""Seconds that an env may have the global generators while others wait."""


class GeneratorsFault(Fault):
    """An env that hangs has the global generators: no other one in this process can play."""


class _GeneratorsLock:
    """A lock that is held while a library plays that draws from the global generators."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._since = math.inf
        """Time when it was taken, by `time.monotonic`."""

    @contextmanager
    def hold(self) -> Generator[None]:
        while not self._lock.acquire(timeout=min(LONGEST, max(0.0, self._since + LONGEST - time.monotonic()))):
            if time.monotonic() >= self._since + LONGEST:
                raise GeneratorsFault(
                    f"an env in another thread has drawn from the global generators of this process for {LONGEST:g} s "
                    "and not answered: give envs of such a library processes of their own (backend='process')"
                )
        before, self._since = self._since, time.monotonic()
        try:
            yield
        finally:
            self._since = before
            self._lock.release()


_GLOBAL = _GeneratorsLock()


class GlobalGenerators:
    """The global generators as one env of such a library sees them.

    Within `use()` they have the state of this env, and after it that of the program again; other envs of such libraries
    wait, but not for one that hangs. A thread of the program that draws from the global generators meanwhile draws from
    those of the env.
    """

    def __init__(self) -> None:
        self._state: tuple[Any, Any] | None = None

    @contextmanager
    def use(self, seed: int | None = None) -> Generator[None]:
        """Draw from this env's generators; with a seed, seeded first.

        Raises:
            GeneratorsFault: another env has them, and hangs.
        """
        with _GLOBAL.hold():
            outer = random.getstate(), np.random.get_state()  # noqa: NPY002
            try:
                if seed is not None:
                    random.seed(seed)
                    np.random.seed(seed % 2**32)  # noqa: NPY002
                elif self._state is not None:
                    self._set(self._state)
                yield
            finally:
                self._state = random.getstate(), np.random.get_state()  # noqa: NPY002
                self._set(outer)

    @staticmethod
    def _set(state: tuple[Any, Any]) -> None:
        random.setstate(state[0])
        np.random.set_state(state[1])  # noqa: NPY002
