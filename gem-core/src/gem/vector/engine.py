"""The vector engine: many environments behind one `send` and `recv`."""

import math
import os
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gem import seeding
from gem.core import Info, Observation, Step
from gem.errors import ConfigError, ResetNeeded, SpecError
from gem.packs.spec import EnvSpec
from gem.vector.backend import Backend
from gem.vector.capacities import barrier_refusal, exceeded, refusal
from gem.vector.messages import Autoreset, Build, Reset, SlotMessage, SlotResult
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
        mixture: Mapping[str, tuple[EnvSpec, float]] | None = None,
    ) -> None:
        self.autoreset: Autoreset = autoreset
        """The default of `send`; see `Autoreset`."""
        self._backend = backend
        self._specs = list(specs)
        self._mixture = {name: spec for name, (spec, _) in (mixture or {}).items()}
        self.shares: Mapping[str, float] = {name: weight for name, (_, weight) in (mixture or {}).items()}
        """Name → weight, if a rollout may play each of them in any slot; otherwise empty. The name is the id, but of a
        `Share` with another."""
        self.reach = Reach()
        """Servers that could not be reached, as rollouts have found, from one to the next."""
        self._slots = range(len(self._specs))
        self._never_reset = set(self._slots)
        self._pending: set[int] = set()
        self._results: list[SlotResult] = []
        self._short: Mapping[str, int] = {}
        """Capacities that are smaller than the number of envs that may use them: an env may wait for another's end."""
        self._abandoned: dict[int, bool] = {}
        """Pending slots whose next result nobody wants; True where it is that of the reset after it."""
        # Also closes at exit, and when the vector is garbage-collected.
        self._close = weakref.finalize(self, _close_in, os.getpid(), backend)
        self._build()

    @property
    def num_envs(self) -> int:
        """The number of slots."""
        return len(self._specs)

    def spec_of(self, slot: int, name: str | None = None) -> EnvSpec:
        """The spec of the env in `slot`, or of another one by its `name` in `shares`, with all kwargs and wrappers.

        Raises:
            SpecError: the slot does not play an env of that name.
        """
        spec = self._specs[slot]
        if name is None or (not self._mixture and name == spec.id):
            return spec
        if name not in self._mixture:
            raise SpecError(f"these envs play {', '.join(self._mixture or [spec.id])}, and not {name!r}")
        return self._mixture[name]

    def send(self, messages: Mapping[int, str | Reset], *, autoreset: Autoreset | None = None) -> None:
        """Send actions or resets.

        Args:
            messages: slot → action or `Reset`.
            autoreset: by default that of the vector.

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
        resumes.
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
        if not (indices is None or hasattr(indices, "__len__")):
            raise ConfigError(f"indices must be a list of the slots to reset, not {indices!r}")
        slots = self._slots if indices is None else indices
        if isinstance(seed, Sequence):
            seeds = list(seed)
            if len(seeds) != len(slots):
                raise ConfigError(f"{len(slots)} slots need {len(slots)} seeds (or a single one), not {len(seeds)}")
        else:
            seeds = [None if seed is None else slot_seed(seed, slot) for slot in slots]
        messages = {slot: Reset(seed, options) for slot, seed in zip(slots, seeds, strict=True)}
        if len(messages) != len(slots):
            raise ConfigError(f"indices names a slot twice: {list(slots)}")
        self._results = [result for result in self._results if result.slot not in messages]
        late = [slot for slot in messages if slot in self._pending]
        self.send({slot: message for slot, message in messages.items() if slot not in late})
        for slot in late:  # what it waits for may be held by one that is reset
            while slot in self._pending:
                self._collect(None)
            self._results = [result for result in self._results if result.slot != slot]
            self.send({slot: messages[slot]})
        steps = self._wait_for(messages, 0)
        for step in steps if options else ():
            kind, _, why = step.info["failure"].error.partition(": ") if "failure" in step.info else ("", "", "")
            if kind == ConfigError.__name__:
                raise ConfigError(why)
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

    def abandon(self, slots: Iterable[int]) -> None:
        """Play these episodes no further, so that they give back what others may wait for (`gem.tool.Resource`).

        Their results are dropped. The next message is a `Reset`. Where no env waits for another, nothing happens.
        """
        if not self._short:
            return
        given_up = set(slots) - self._never_reset
        self._results = [result for result in self._results if result.slot not in given_up]
        self._abandoned.update(dict.fromkeys(given_up & self._pending, False))
        self._let_go(given_up - self._pending)

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
            if slot not in self._slots:
                raise IndexError(f"slot {slot!r} does not exist; this vector has slots 0 to {len(self._specs) - 1}")
            if not (isinstance(message, str) or isinstance(message, Reset)):  # noqa: SIM101 - a third of the time
                raise TypeError(f"slot {slot} takes the text of an action or a Reset, not {message!r}")
        if not self._close.alive:
            raise RuntimeError("this vector is closed")
        while self._abandoned and not self._abandoned.keys().isdisjoint(messages):
            self._collect(None)
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
        if self._abandoned:
            received = self._without_abandoned(received)
        if len(received) == len(self._pending):
            self._pending.clear()
        else:
            self._pending.difference_update([result.slot for result in received])
        self._results += received

    def _without_abandoned(self, received: list[SlotResult]) -> list[SlotResult]:
        """The results that somebody wants. An abandoned step is followed by a reset."""
        dropped = [result.slot for result in received if result.slot in self._abandoned]
        for slot in dropped:
            self._pending.discard(slot)
        stepped = [slot for slot in dropped if not self._abandoned.pop(slot)]
        self._let_go(stepped)
        return [result for result in received if result.slot not in dropped]

    def _let_go(self, slots: Iterable[int]) -> None:
        messages = dict.fromkeys(slots, Reset())
        self._backend.send(messages, "off")
        self._pending.update(messages)
        self._abandoned.update(dict.fromkeys(messages, True))

    def _send_and_wait(self, messages: Mapping[int, str | Reset]) -> list[Step]:
        """Send, and wait for these slots; results of other slots are kept for `recv`."""
        if self._short and any(isinstance(message, str) for message in messages.values()):
            raise barrier_refusal(self._short)
        self.send(messages)
        return self._wait_for(messages, len(self._results))

    def _wait_for(self, messages: Mapping[int, str | Reset], already_there: int) -> list[Step]:
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
        self._backend.send(dict.fromkeys(self._slots, Build()), "off")
        remaining, refused = self.num_envs, None
        capacities: list[Mapping[str, int]] = []
        while remaining:
            results = self._backend.recv(None)
            remaining -= len(results)
            refused = refused or next((a.step.info["refused"] for a in results if a.step), None)
            capacities += [answer.step.info["capacities"] for answer in results if answer.step]
        try:
            if refused is not None:
                raise refused
            if any(capacities):
                self._backend.share_capacities()
                self._short = exceeded(capacities, everywhere=bool(self._mixture))
                if self._short and not self._backend.independent:
                    raise refusal(self._short, self.num_envs)
        except BaseException:
            self.close()
            raise


def _close_in(process: int, backend: Backend) -> None:
    # The copy of a vector in a forked child must not end the workers of its parent.
    if os.getpid() == process:
        backend.close()


def slot_seed(seed: int, slot: int) -> int:
    """The seed from which the episodes of `slot` follow, in a vector with `seed`; see `gem.seeding.check_seed`."""
    return seeding.derive(seeding.check_seed(seed), "vector", slot)


def _failed(result: SlotResult) -> Step:
    return Step("", math.nan, False, True, {"failure": result.failure})
