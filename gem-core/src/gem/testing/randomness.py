"""Checks of determinism, of independence, and of the random generators."""

import random
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from typing import Any
from unittest import mock

import numpy as np

from gem.core import Env
from gem.errors import ContractViolation
from gem.testing.play import PlayedEpisode, as_line, difference, expect_same, play, replay_actions, transitions
from gem.testing.spawned import NotPlayed
from gem.testing.subject import Inapplicable, Subject

_READING = ("getstate", "get_state")


def check_determinism(subject: Subject) -> None:
    """The same seed and actions give the same bytes in processes with different hash seeds."""
    first, second = subject.spawned
    if isinstance(first, NotPlayed) or isinstance(second, NotPlayed):
        raise Inapplicable("another process could not play it; see the check `spawning`")
    for left, right in zip(first, second, strict=True):
        expect_same(
            left.transitions,
            right.transitions,
            f"Two processes play the episode from seed {left.seed} differently",
            "Sort the elements of sets; nothing may depend on hash(), id(), the time or the process.",
        )


def check_spawning(subject: Subject) -> None:
    """A spawned process builds the env from its pickled spec, and plays as this process does."""
    fix = "A worker has only the spec and what importing the module sets up; keep both picklable and complete."
    plays: list[list[PlayedEpisode]] = []
    for answer in subject.spawned:
        if isinstance(answer, NotPlayed):
            raise ContractViolation(f"A spawned process cannot play it: {answer.what}.", fix)
        plays.append(answer)
    for here, first, second in zip(subject.reference, *plays, strict=True):
        # If the spawned processes differ from each other, `determinism` reports it.
        if not difference(first.transitions, second.transitions):
            fault = f"A spawned process plays the episode from seed {here.seed} differently than this one"
            expect_same(here.transitions, first.transitions, fault, fix)


def check_independence(subject: Subject) -> None:
    """Two instances that are played in turn play as each does alone."""
    first = subject.reference[0]
    for second in [*subject.reference[1:], first]:
        with subject.make() as one, subject.make() as other:
            pairs = zip_longest(
                transitions(one, first.seed, subject.turns),
                transitions(other, second.seed, subject.turns),
                fillvalue=None,
            )
            played = list(pairs)
        for number, expected in enumerate((first, second)):
            got = [pair[number] for pair in played]
            expect_same(
                expected.transitions,
                [transition for transition in got if transition is not None],
                f"Played in turn with another instance (seeds {first.seed} and {second.seed}), "
                f"the episode from seed {expected.seed} differs from the one played alone",
                "Keep state in the instance, not in its class, its module or a default argument.",
            )


def check_own_generators(subject: Subject) -> None:
    """The env draws from its own generators, never from the global ones of `random` and `numpy.random`."""
    _ = subject.reference  # so that lazy imports have been done
    with _recorded_global_calls() as calls:
        before = _global_states()
        for seed in subject.seeds(subject.episodes):
            with subject.make() as env:
                play(env, seed, subject.turns, lambda env: [env.expert_action(), env.sample_action()][1] or "")
        after = _global_states()
    if calls:
        raise ContractViolation(f"{calls[0]}.", "Draw from self.rng, and in sample_action() from self.action_rng.")
    for module, state in before.items():
        if after[module] != state:
            raise ContractViolation(
                f"The state of the global generator of `{module}` changes while the env is played.",
                f"Look for functions imported from {module} by name; draw from self.rng, and in sample_action() "
                "from self.action_rng.",
            )


def check_suggestions(subject: Subject) -> None:
    """Calls of `sample_action` and `expert_action` do not change the episode."""
    for expected in subject.reference:
        for choose, how in ((replay_actions, "never called"), (_with_three_calls, "called three times per turn")):
            with subject.make() as env:
                choice = choose(expected.actions)
                expect_same(
                    expected.transitions,
                    play(env, expected.seed, len(expected.actions), choice).transitions,
                    f"With the same actions, the episode from seed {expected.seed} differs if sample_action() and "
                    f"expert_action() are {how}",
                    "Both must only read the state, and draw from self.action_rng, never from self.rng.",
                )


def _with_three_calls(actions: list[str]) -> Callable[[Env], str]:
    replay = replay_actions(actions)

    def choose(env: Env) -> str:
        for _ in range(3):
            env.sample_action()
            env.expert_action()
        return replay(env)

    return choose


@contextmanager
def _recorded_global_calls() -> Generator[list[str]]:
    """Record the calls of the functions of both global generators, with their places in the code."""
    calls: list[str] = []
    with ExitStack() as patches:
        for module, generator in ((random, random.Random), (np.random, np.random.RandomState)):
            for name, function in list(vars(module).items()):
                # The functions of both modules are methods of a hidden generator. Reading its state is allowed.
                if isinstance(getattr(function, "__self__", None), generator) and name not in _READING:
                    reporting = _recording(f"{module.__name__}.{name}", function, calls)
                    patches.enter_context(mock.patch.object(module, name, reporting))
        yield calls


def _recording(name: str, function: Callable[..., Any], calls: list[str]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        calls.append(f"{caller.f_code.co_filename}, line {caller.f_lineno}, calls {name}()")
        return function(*args, **kwargs)

    return call


def _global_states() -> dict[str, str]:
    return {"random": as_line(random.getstate()), "numpy.random": as_line(np.random.get_state())}  # noqa: NPY002
