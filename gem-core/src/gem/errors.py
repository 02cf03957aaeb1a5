"""The errors of GEM, in two trees with standard-library parents.

A `GemError` is a mistake that the caller can correct: an id, a setting, the order of calls, an installation. A `Fault`
is a failure of something outside: a server that does not answer, a tool that does not return. A fault fails one
episode, which is reported; a `GemError` ends the program.

```
GemError
├── SpecError(ValueError)          an id or a spec that is not well formed
│   └── MissingArgument            an argument that is needed and was not given
├── UnknownId(LookupError)         an id that no installed pack provides
├── DuplicateId(ValueError)        an id that is already registered
├── PackError(ImportError)         a pack that is installed but cannot be used
├── MissingExtra(ImportError)      an optional dependency that is not installed
├── DataUnavailable(LookupError)   a data set that is not on this machine and cannot be downloaded
├── ResetNeeded(RuntimeError)      `step` before the first `reset`
├── EpisodeOver(RuntimeError)      `step` after the end of an episode
├── SnapshotError(ValueError)      a snapshot that does not belong to this env
├── RecordError(ValueError)        a recording that cannot be read, written or replayed
├── MissingInfo(RuntimeError)      a policy needs `info_methods` that the envs were made without
├── PolicyError(TypeError)         something that is not a policy, or cannot be built
├── ContractViolation(AssertionError) an env that breaks the contract, found by `gemx check`
├── NothingToLearn(RuntimeError)   a batch of episodes that all failed
├── TrainingStopped(RuntimeError)  a training run that cannot continue, or only to no use
├── ToolError(RuntimeError)        a tool that cannot do what it was asked; the agent reads its text
├── BadArguments(ValueError)       a tool call whose arguments do not fit the tool; the agent reads its text
└── ConfigError(ValueError)        settings that are unknown or out of range

Fault
├── Unreachable(ConnectionError)   a server that cannot be reached: other episodes will fail as this one did
├── RewardFailed                   a reward that was not found out, such as by a judge that did not answer
└── ToolTimeout(TimeoutError)      a tool that did not return in time: not an answer that an agent may learn from
```

Every message says what was wrong and what to do. Packs derive faults of their own from `Fault`; any other exception of
an environment, a tool or a grader is treated in the same way.
"""

import difflib
import traceback
from collections.abc import Iterable
from dataclasses import dataclass


class GemError(Exception):
    """The parent of every error that the caller can correct."""


class Fault(Exception):
    """The parent of the errors that the caller cannot correct: something that GEM depends on has failed."""


class SpecError(GemError, ValueError):
    """An id or a spec is not well formed."""


class MissingArgument(SpecError):
    """An argument is needed, and was not given."""


class UnknownId(GemError, LookupError):
    """No installed pack provides this id."""


class DuplicateId(GemError, ValueError):
    """The id is already registered."""


class PackError(GemError, ImportError):
    """A pack is installed, but it cannot be used."""


class MissingExtra(GemError, ImportError):
    """An optional dependency is not installed."""


class DataUnavailable(GemError, LookupError):
    """A data set is not on this machine, and cannot be downloaded."""


class ResetNeeded(GemError, RuntimeError):
    """`step` was called before the first `reset`."""


class EpisodeOver(GemError, RuntimeError):
    """`step` was called after the episode had ended."""


class SnapshotError(GemError, ValueError):
    """A snapshot does not belong to the env that is asked to restore it."""


class RecordError(GemError, ValueError):
    """A recording cannot be read, written or replayed."""


class MissingInfo(GemError, RuntimeError):
    """A policy needs something in `info` that the envs were not asked for: pass `info_methods=policy.info_methods`."""


class PolicyError(GemError, TypeError):
    """An object is not a policy, cannot be built, or returns something other than completions."""


class ContractViolation(GemError, AssertionError):
    """An environment breaks the contract. `what` says what happened and where, `fix` what to do about it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what, fix)
        self.what, self.fix = what, fix

    def __str__(self) -> str:
        return f"{self.what}\n{self.fix}"


class NothingToLearn(GemError, RuntimeError):
    """Every episode of a batch failed, so there is nothing to learn from."""


class TrainingStopped(GemError, RuntimeError):
    """A training run cannot continue to any use, as when it learns nothing, a number is not finite, or memory runs out.

    What it saved is kept.
    """


class ToolError(GemError, RuntimeError):
    """A tool cannot do what it was asked. Raise it in a tool: the agent reads its text.

    Any other exception of a tool is a fault, which ends the episode as failed.
    """


class BadArguments(GemError, ValueError):
    """The arguments of a tool call are not valid. The text says which and why, for the agent to read."""


class Unreachable(Fault, ConnectionError):
    """What an environment or a tool depends on, such as a server, cannot be reached at all.

    Raise it, with a text that names what cannot be reached, only if that holds for other episodes too. It fails the
    episode, as any fault does. If several in a row fail for this reason, rollouts and sessions raise it, so that an
    evaluation or a training run stops instead of playing all that is left in vain.
    """


class RewardFailed(Fault):
    """A reward of an episode was not found out: a judge did not answer, or a function raised or did not return.

    That says nothing about the agent, so it is not a 0.
    """


class ToolTimeout(Fault, TimeoutError):
    """A tool did not return in time.

    This is a fault: the duration of a call depends on the load of the machine, which an agent must not learn from. A
    tool that limits its agent's time measures it itself, and raises `ToolError`.
    """


class ConfigError(GemError, ValueError):
    """A setting is unknown or out of range."""


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3) -> str:
    """`" Did you mean 'a' or 'b'?"` with the names nearest to `name`, ignoring case; `""` if none is near."""
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    near = difflib.get_close_matches(name.lower(), by_lower, n=most, cutoff=0.6)
    if not near:
        return ""
    quoted = [repr(by_lower[match]) for match in near]
    head, last = quoted[:-1], quoted[-1]
    return f" Did you mean {', '.join(head)} or {last}?" if head else f" Did you mean {last}?"


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of an env, a tool, a grader or a policy. Its episode is reported, and left out of every result."""

    error: str
    """`Type: message`, on one line."""
    traceback: str
    """The whole traceback, as Python prints it."""
    unreachable: bool = False
    """Whether it was a `gem.errors.Unreachable`: what the episode depends on cannot be reached."""


def failure_of(error: BaseException) -> Failure:
    """The `Failure` of an exception."""
    return Failure(
        one_line(error), "".join(traceback.format_exception(error)), unreachable=isinstance(error, Unreachable)
    )


def one_line(error: BaseException) -> str:
    """`Type: message` of an exception, on one line."""
    try:
        text = str(error)
    except Exception as second:
        text = f"(its text cannot be read: {type(second).__name__})"
    return " ".join(f"{type(error).__name__}: {text}".split())
