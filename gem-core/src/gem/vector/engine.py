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
from gem.vector.messages import Autoreset, Build, GetProgress, Reset, SetProgress, SlotMessage, SlotResult
from gem.vector.reach import Reach


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

    `send` passes actions to some slots, and `recv` returns results in the order in which they are ready. `reset` and
    `step` do both for several slots, and wait for all of them.

    If an env raises, exceeds its time limit, or its process dies, its result contains the failure and its slot gets a
    new env; other slots are not affected.

    Every episode has a seed: the next of its slot's stream, if none is given. `reset` or `Reset` with a seed restarts
    the stream. So one seed gives the same episodes on every backend, even after failures.
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
        """The default of `send`; see `Autoreset`."""
        self._backend = backend
        self._specs = list(specs)
        self._mixture = {spec.id: spec for spec, _ in mixture}
        self.shares: Mapping[str, float] = {spec.id: share for spec, share in mixture}
        """Id → weight, if a rollout may play each of them in any slot; otherwise empty."""
        self.reach = Reach()
        """Whether what the envs depend on can be reached: rollouts tell, from one to the next."""
        self._never_reset = set(range(len(self._specs)))
        self._pending: set[int] = set()
        self._results: list[SlotResult] = []
        # Also closes at exit, and when the vector is garbage-collected.
        self._close = weakref.finalize(self, _close_in, os.getpid(), backend)
        self._build()

    @property
    def num_envs(self) -> int:
        """The number of slots."""
        return len(self._specs)

    def id_of(self, slot: int) -> str:
        """The id of the env in `slot`."""
        return self._specs[slot].id

    def spec_of(self, slot: int, id: str | None = None) -> EnvSpec:
        """The spec of the env in `slot`, or of another `id` of its `shares`, with all kwargs and wrappers.

        Raises:
            SpecError: the slot cannot play this id.
        """
        spec = self._specs[slot] if id is None else self._mixture.get(id, self._specs[slot])
        if id not in (None, spec.id):
            raise SpecError(f"these envs play {', '.join(self._mixture or [spec.id])}, and not {id!r}")
        return spec

    def send(self, messages: Mapping[int, str | Reset], *, autoreset: Autoreset | None = None) -> None:
        """Send actions or resets.

        Args:
            messages: slot → action or `Reset`.
            autoreset: for these messages, instead of the default of the vector.

        Raises:
            IndexError: the slot does not exist.
            TypeError: a message is neither text nor a `Reset`.
            RuntimeError: a message of a slot is still pending; `recv` first.
            ResetNeeded: an action for a slot before its first `Reset`.
        """
        self._check(messages)
        self._backend.send(messages, autoreset or self.autoreset)
        self._pending.update(messages)
        self._never_reset.difference_update(messages)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> list[SlotResult]:
        """The results that are ready, in order of completion.

        Waits until there are `min_results` (or as many as are pending, if that is less), or for `timeout` seconds;
        `timeout=0` does not wait. With `backend="sync"` all pending envs run in this call. After Ctrl-C, the next call
        resumes without losing a result.
        """
        wanted = min(min_results, len(self._results) + len(self._pending))
        until = None if timeout is None else time.monotonic() + timeout
        # If there are enough already, take what else is ready without waiting.
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
                of `indices`. Without it, each slot continues its stream.
            indices: the slots to reset; by default all.
            options: passed to every env.

        Pending results of these slots are dropped, such as those of an abandoned rollout.

        Raises:
            ConfigError: an env refuses the options, or another argument is invalid.

        Returns:
            The first observations and their infos, in slot order. A slot that failed has the observation `""` and
            the failure in `info["failure"]`.
        """
        if not isinstance(options, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"options must be a mapping of names to values, not {options!r}")
        if not (indices is None or hasattr(indices, "__len__")):
            raise ConfigError(f"indices must be a list of the slots to reset, not {indices!r}")
        slots = range(self.num_envs) if indices is None else indices
        if seed is None or isinstance(seed, Sequence):
            seeds = [None] * len(slots) if seed is None else list(seed)
            if len(seeds) != len(slots):
                raise ConfigError(f"{len(slots)} slots need {len(slots)} seeds (or a single one), not {len(seeds)}")
        else:
            seeds = [slot_seed(seed, slot) for slot in slots]
        messages = {slot: Reset(seed, options) for slot, seed in zip(slots, seeds, strict=True)}
        if len(messages) != len(slots):
            raise ConfigError(f"indices names a slot twice: {list(slots)}")
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
        """Step several slots, and wait for all of them.

        Args:
            actions: one action per slot, or slot → action for some of them.

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
        # One list per column is much quicker than filling arrays by element.
        observations, rewards, terminated, truncated, infos = map(list, zip(*steps, strict=True)) if steps else [[]] * 5
        return VectorStep(
            observations, np.array(rewards, np.float64), np.array(terminated, bool), np.array(truncated, bool), infos
        )

    def progress(self) -> list[Any]:
        """What the env of each slot keeps from one episode to the next: see `gem.Env.progress`. Plain JSON.

        Waits for pending results, which the next `recv` returns. A slot whose env cannot be built has None.
        """
        while self._pending:
            self._collect(None)
        steps = self._exchange(dict.fromkeys(range(self.num_envs), GetProgress()))
        return [step.info.get("progress") for step in steps]

    def set_progress(self, progress: Sequence[Any]) -> None:
        """Continue from the `progress` of a vector with the same envs, at the next reset of each slot.

        With more slots than there were, it is repeated.

        Raises:
            ConfigError: it is of other envs.
            RuntimeError: a message is pending.
        """
        if not progress:
            raise ConfigError("there is no progress to continue from")
        if self._pending:
            raise RuntimeError(f"the last message of slot {min(self._pending)} is still pending; call recv() first")
        given = {slot: progress[slot % len(progress)] for slot in range(self.num_envs)}
        for step in self._exchange({slot: SetProgress(each) for slot, each in given.items() if each is not None}):
            if "failure" in step.info:
                raise ConfigError(f"the envs cannot continue from there: {step.info['failure'].error}")

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
                raise IndexError(f"slot {slot!r} does not exist; this vector has slots 0 to {len(self._specs) - 1}")
            if not (isinstance(message, str) or isinstance(message, Reset)):  # noqa: SIM101 - a third of the time
                raise TypeError(f"slot {slot} takes the text of an action or a Reset, not {message!r}")
        if not self._close.alive:
            raise RuntimeError("this vector is closed")
        if not self._pending.isdisjoint(messages):
            slot = min(self._pending.intersection(messages))
            raise RuntimeError(f"the last message of slot {slot} is still pending; call recv() first")
        if self._never_reset:
            for slot, message in messages.items():
                if slot in self._never_reset and isinstance(message, str):
                    raise ResetNeeded(f"slot {slot} has no episode yet; reset it before its first action")

    def _collect(self, timeout: float | None) -> None:
        """Move ready results from the backend to `_results`."""
        received = self._backend.recv(timeout)
        if len(received) == len(self._pending):
            self._pending.clear()
        else:
            self._pending.difference_update([result.slot for result in received])
        self._results += received

    def _send_and_wait(self, messages: Mapping[int, str | Reset]) -> list[Step]:
        """Send, and wait for these slots; results of other slots are kept for `recv`."""
        self.send(messages)
        return self._wait_for(messages)

    def _exchange(self, messages: Mapping[int, SlotMessage]) -> list[Step]:
        """The same for messages that are not part of an episode."""
        self._backend.send(messages, "off")
        self._pending.update(messages)
        return self._wait_for(messages)

    def _wait_for(self, messages: Mapping[int, SlotMessage]) -> list[Step]:
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
        """Build every env. Refused settings raise here; other errors fail the episodes of the env."""
        self._backend.send(dict.fromkeys(range(self.num_envs), Build()), "off")
        remaining, refused = self.num_envs, None
        while remaining:
            results = self._backend.recv(None)
            remaining -= len(results)
            refused = refused or next((a.step.info["refused"] for a in results if a.step), None)
        if refused is not None:
            self.close()
            raise refused


def _close_in(process: int, backend: Backend) -> None:
    # The copy of a vector in a forked child must not end the workers of its parent.
    if os.getpid() == process:
        backend.close()


def slot_seed(seed: int, slot: int) -> int:
    """The seed from which the episodes of `slot` follow, in a vector with `seed`."""
    return seeding.derive(seed, "vector", slot)


def _failed(result: SlotResult) -> Step:
    return Step("", math.nan, False, True, {"failure": result.failure})
