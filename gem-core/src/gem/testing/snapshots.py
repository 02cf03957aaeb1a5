"""The check of `snapshot` and `restore`."""

from typing import cast

from gem.core import Env
from gem.errors import ContractViolation
from gem.testing.play import Transition, act, expect_same
from gem.testing.subject import Subject

_FIX = (
    "Keep the whole state in attributes that can be pickled; an env with anything else overrides snapshot() and "
    "restore()."
)


def check_snapshots(subject: Subject) -> None:
    """A snapshot at any turn changes nothing, and can be restored into its own instance and into a new one."""
    for expected in subject.reference:
        env = subject.make()
        try:
            env.reset(seed=expected.seed)
            for turn, transition in enumerate(expected.transitions[1:], start=1):
                where = f"Before turn {turn} of the episode from seed {expected.seed}"
                state = _snapshot(env, where)
                _check_next_step(env, transition, turn, f"{where}, taking a snapshot")
                env.restore(state)
                _check_next_step(env, transition, turn, f"{where}, restoring a snapshot into its own instance")
                # The new instance continues, so that lost state shows at a later turn.
                env.close()
                env = subject.make()
                env.restore(state)
                _check_next_step(env, transition, turn, f"{where}, restoring a snapshot into a new instance")
        finally:
            env.close()


def _snapshot(env: Env, where: str) -> bytes:
    try:
        state = cast("object", env.snapshot())
    except Exception as error:
        raise ContractViolation(f"{where}, snapshot() raises {type(error).__name__}: {error}.", _FIX) from error
    if not isinstance(state, bytes):
        raise ContractViolation(f"{where}, snapshot() returns a {type(state).__name__}.", "Return bytes.")
    return state


def _check_next_step(env: Env, expected: Transition, turn: int, what: str) -> None:
    fault = f"{what} changes the next step"
    expect_same([expected], [act(env, env.sample_action())], fault, _FIX, first_turn=turn)
