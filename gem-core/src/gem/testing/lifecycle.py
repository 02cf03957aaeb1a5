"""Checks before the first reset, after the end, and across episodes."""

from itertools import islice

from gem.core import Env
from gem.errors import ContractViolation, EpisodeOver, GemError, ResetNeeded
from gem.testing.play import expect_same, play, transitions
from gem.testing.subject import Subject


def check_reset_needed(subject: Subject) -> None:
    """`step` before the first `reset` raises ResetNeeded."""
    with subject.make() as env:
        _check_refusal(env, subject.reference[0].actions[0], ResetNeeded, "before the first reset()")


def check_episode_over(subject: Subject) -> None:
    """`step` after the end of an episode raises EpisodeOver."""
    ended = subject.ended()[0]
    with subject.make() as env:
        *_, last = transitions(env, ended.seed, subject.turns)
        when = f"after the end of the episode from seed {ended.seed} (its step was {last.line[:200]})"
        _check_refusal(env, ended.actions[-1], EpisodeOver, when)


def check_resets(subject: Subject) -> None:
    """`reset` twice, and in the middle of an episode, is like a first reset with that seed."""
    others = [*subject.reference[1:], subject.reference[0]]
    for expected, other in zip(subject.reference, others, strict=True):
        # Just before its end an episode has changed the most.
        for played, when in ((1, "a reset alone"), (len(other.transitions) - 1, "a part of an episode")):
            with subject.make() as env:
                for _ in islice(transitions(env, other.seed, subject.turns), played):
                    pass
                expect_same(
                    expected.transitions,
                    play(env, expected.seed, subject.turns).transitions,
                    f"After {when} from seed {other.seed}, reset(seed={expected.seed}) differs from a first reset",
                    "Set every attribute in _reset(), and draw only from self.rng.",
                )


def check_history(subject: Subject) -> None:
    """An instance plays like a new one after earlier episodes."""
    with subject.make() as env:
        for number, expected in enumerate([*subject.reference, subject.reference[0]]):
            expect_same(
                expected.transitions,
                play(env, expected.seed, subject.turns).transitions,
                f"After {number} episodes in one instance, the episode from seed {expected.seed} "
                "differs from that of a new instance",
                "Set every attribute in _reset(): nothing may remain from the previous episode.",
            )


def _check_refusal(env: Env, action: str, expected: type[GemError], when: str) -> None:
    try:
        env.step(action)
    except expected:
        return
    except Exception as error:
        what = f"raises {type(error).__name__}: {error}"
    else:
        what = "is executed"
    raise ContractViolation(f"step() {when} {what}.", f"Raise gem.errors.{expected.__name__}, as TurnEnv does.")
