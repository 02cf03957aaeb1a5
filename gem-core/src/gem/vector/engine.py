"""The vector engine: many environments behind one `send` and `recv`."""

import math
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gem import seeding
from gem.core import Info, Observation, Step
from gem.errors import ConfigError, ResetNeeded, SpecError
from gem.packs.spec import EnvSpec
from gem.vector.backend import Backend
from gem.vector.messages import Autoreset, Build, Reset, SlotMessage, SlotResult


class VectorStep(NamedTuple):
    """One step of several slots, in slot order: `observations`, `rewards`, `terminated`, `truncated` and `infos`.

    A slot that failed has reward NaN, is truncated, and has the failure in `info["failure"]`.
    """

    observations: list[Observation]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: list[Info]


class VectorEnv:
    """Environments in numbered slots; `gem.make_vec` makes one.

    `send` gives some slots something to do, and `recv` takes what is done, in the order in which it is done. `reset`
    and `step` do both for several slots at once, and wait for all of them.

    An env that raises, hangs past its deadline or whose process dies fails alone: its result has the failure, its
    slot gets a new env, and the other slots lose nothing.

    Every episode has a seed. One that is started without takes the next of its slot's own stream, which `reset`
    with a seed, or a `Reset` with one, starts anew; so a seed gives the same episodes on every backend, after a
    failure too.
    """

    def __init__(
        self,
        backend: Backend,
        specs: Sequence[EnvSpec],
        *,
        autoreset: Autoreset = "same_step",
        mixture: Sequence[tuple[EnvSpec, float]] = (),
    ) -> None:
        self.autoreset: Autoreset = autoreset
        """What follows the end of an episode."""
        self._backend = backend
        self._specs = list(specs)
        self._mixture = {spec.id: spec for spec, _ in mixture}
        self.shares: Mapping[str, float] = {spec.id: share for spec, share in mixture}
        """Id → weight, where a rollout may have any of them played in any slot; else empty."""
        self._never_reset = set(range(len(self._specs)))
        self._pending: set[int] = set()
        self._results: list[SlotResult] = []
        # Closes at exit too, and where a vector is dropped without close().
        self._close = weakref.finalize(self, _close_in, os.getpid(), backend)
        self._build()

    @property
    def num_envs(self) -> int:
        """How many slots there are."""
        return len(self._specs)

    def id_of(self, slot: int) -> str:
        """The id of the env in `slot`."""
        return self._specs[slot].id

    def spec_of(self, slot: int, id: str | None = None) -> EnvSpec:
        """What the env in `slot` is built from, or the one of another `id` among its `shares`.

        It has the kwargs and wrappers that are in force.

        Raises:
            SpecError: the slot cannot play this id.
        """
        spec = self._specs[slot] if id is None else self._mixture.get(id, self._specs[slot])
        if id not in (None, spec.id):
            raise SpecError(f"these envs play {', '.join(self._mixture or [spec.id])}, and not {id!r}")
        return spec

    def send(self, messages: Mapping[int, str | Reset], *, autoreset: Autoreset | None = None) -> None:
        """Give each named slot an action or a `Reset`.

        Args:
            messages: slot → action or `Reset`.
            autoreset: for these messages, instead of the vector's own.

        Raises:
            IndexError: there is no such slot.
            TypeError: a message is neither text nor a `Reset`.
            RuntimeError: a slot still has something to do; `recv` first.
            ResetNeeded: an action for a slot that has had no `Reset` yet.
        """
        self._check(messages)
        self._backend.send(messages, autoreset or self.autoreset)
        self._pending.update(messages)
        self._never_reset.difference_update(messages)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> list[SlotResult]:
        """What is done, first come first served.

        Waits until `min_results` slots have arrived (or as many as are under way, if that is less), or until
        `timeout` seconds have passed; `timeout=0` takes what is there. With `backend="sync"` the envs run here and
        now, every one that was sent something. Ctrl-C loses nothing: the next call goes on.
        """
        wanted = min(min_results, len(self._results) + len(self._pending))
        until = None if timeout is None else time.monotonic() + timeout
        # Where enough has arrived already, whatever else is there is taken without waiting.
        while self._pending:
            wait = None if until is None else max(0.0, until - time.monotonic())
            self._collect(wait if len(self._results) < wanted else 0)
            if len(self._results) >= wanted or (until is not None and time.monotonic() >= until):
                break
        results, self._results = self._results, []
        return results

    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        indices: Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[list[Observation], list[Info]]:
        """Start a new episode in each slot (or in those named by `indices`), and wait for all of them.

        Args:
            seed: one seed, from which every slot derives its own, or one for each slot that is reset, in the order
                of `indices`. Without it, each slot goes on with its own stream.
            indices: the slots to reset.
            options: go to every env.

        What these slots were doing is dropped, such as what an abandoned rollout left under way.

        Raises:
            ConfigError: an env refuses the options, or another argument will not do.

        Returns:
            The first observations and their infos, in slot order. A slot that failed has the observation `""` and
            the failure in `info["failure"]`.
        """
        if not isinstance(options, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"options are a mapping of names to values, not {options!r}")
        if not (indices is None or hasattr(indices, "__len__")):
            raise ConfigError(f"indices is a list of the slots to reset, not {indices!r}")
        slots = range(self.num_envs) if indices is None else indices
        if seed is None or isinstance(seed, Sequence):
            seeds = [None] * len(slots) if seed is None else list(seed)
            if len(seeds) != len(slots):
                raise ConfigError(f"{len(slots)} slots need {len(slots)} seeds (or a single one), not {len(seeds)}")
        else:
            seeds = [slot_seed(seed, slot) for slot in slots]
        messages = {slot: Reset(seed, options) for slot, seed in zip(slots, seeds, strict=True)}
        if len(messages) != len(slots):
            raise ConfigError(f"a slot can be reset once at a time; indices names one twice: {list(slots)}")
        while not self._pending.isdisjoint(messages):
            self._collect(None)
        self._results = [result for result in self._results if result.slot not in messages]
        steps = self._send_and_wait(messages)
        for step in steps if options else ():
            failure = step.info.get("failure")
            if failure is not None and failure.error.startswith(f"{ConfigError.__name__}: "):
                raise ConfigError(failure.error.removeprefix(f"{ConfigError.__name__}: "))
        return [step.observation for step in steps], [step.info for step in steps]

    def step(self, actions: Sequence[str] | Mapping[int, str]) -> VectorStep:
        """Act in several slots, and wait for all of them.

        Args:
            actions: one a slot, or slot → action for some of them.

        Returns:
            The steps, in slot order.
        """
        if not isinstance(actions, Mapping):
            if isinstance(actions, str) or not hasattr(actions, "__len__"):
                raise ConfigError(f"step takes a list with an action for each slot, or slot → action, not {actions!r}")
            if len(actions) != self.num_envs:
                raise ConfigError(
                    f"{self.num_envs} slots need {self.num_envs} actions, not {len(actions)}; "
                    "to act in some of them, pass a mapping {slot: action}"
                )
            actions = dict(enumerate(actions))
        steps = self._send_and_wait(actions)
        # One list a column: much quicker than filling arrays one number at a time.
        observations, rewards, terminated, truncated, infos = map(list, zip(*steps, strict=True)) if steps else [[]] * 5
        return VectorStep(
            observations, np.array(rewards, np.float64), np.array(terminated, bool), np.array(truncated, bool), infos
        )

    def close(self) -> None:
        """Close every env, and end every worker. Closing twice is fine."""
        self._pending.clear()
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, messages: Mapping[int, SlotMessage]) -> None:
        if not isinstance(messages, (dict, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance]: dict first, it is quicker
            raise ConfigError(f"send takes slot → action or Reset, not {messages!r}")
        for slot, message in messages.items():
            try:
                there = 0 <= slot < len(self._specs)
            except TypeError:
                there = False
            if not there:
                raise IndexError(f"there is no slot {slot!r}; this vector has slots 0 to {len(self._specs) - 1}")
            if not (isinstance(message, str) or isinstance(message, Reset)):  # noqa: SIM101 - a third of the time
                raise TypeError(f"slot {slot} takes the text of an action or a Reset, not {message!r}")
        if not self._close.alive:
            raise RuntimeError("this vector is closed")
        if not self._pending.isdisjoint(messages):
            slot = min(self._pending.intersection(messages))
            raise RuntimeError(f"slot {slot} has not answered its last message yet; call recv() first")
        if self._never_reset:
            for slot, message in messages.items():
                if slot in self._never_reset and isinstance(message, str):
                    raise ResetNeeded(f"slot {slot} has no episode yet; reset it before its first action")

    def _collect(self, timeout: float | None) -> None:
        """Take what the backend has, and keep it here until somebody asks for it."""
        received = self._backend.recv(timeout)
        if len(received) == len(self._pending):
            self._pending.clear()
        else:
            self._pending.difference_update([result.slot for result in received])
        self._results += received

    def _send_and_wait(self, messages: Mapping[int, str | Reset]) -> list[Step]:
        """Send, wait for all of these slots, and leave what arrives from others to `recv`."""
        self.send(messages)
        already_there = len(self._results)
        for slot in messages:
            while slot in self._pending:
                self._collect(None)
        results = self._results[already_there:]
        del self._results[already_there:]
        if len(results) != len(messages):
            self._results += [result for result in results if result.slot not in messages]
            results = [result for result in results if result.slot in messages]
        results.sort()
        return [result.step or _failed(result) for result in results]

    def _build(self) -> None:
        """Have every env built; settings that one refuses are refused here, other faults fail its episodes."""
        self._backend.send(dict.fromkeys(range(self.num_envs), Build()), "off")
        awaited, refused = self.num_envs, None
        while awaited:
            results = self._backend.recv(None)
            awaited -= len(results)
            refused = refused or next((a.step.info["refused"] for a in results if a.step), None)
        if refused is not None:
            self.close()
            raise refused


def _close_in(process: int, backend: Backend) -> None:
    # A forked child has a copy of the vector, and must not end the workers of its parent.
    if os.getpid() == process:
        backend.close()


def slot_seed(seed: int, slot: int) -> int:
    """The seed from which the episodes of `slot` follow, in a vector with `seed`."""
    return seeding.derive(seed, "vector", slot)


def _failed(result: SlotResult) -> Step:
    return Step("", math.nan, False, True, {"failure": result.failure})
