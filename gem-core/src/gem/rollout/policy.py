"""Policies: whatever turns transcripts into completions.

A policy takes transcripts with `send` and gives completions with `recv`, some time later and in its own order, so
that a rollout never waits for the slowest. It is addressed by *slot*: a number that names one conversation until
`forget` ends it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from gem.errors import MissingInfo
from gem.failure import Failure
from gem.rollout.transcript import Completion, Transcript

__all__ = ["Completion", "Failure", "InfoPolicy", "Policy", "expert_policy", "random_policy"]


class Policy(ABC):
    """Turns transcripts into completions."""

    info_methods: tuple[str, ...] = ()
    """What the envs must put into each `info` for this policy: names of env methods without arguments, such as
    `"sample_action"`. Pass them on: `gem.make_vec(…, info_methods=policy.info_methods)`."""

    @abstractmethod
    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        """Ask for one completion of each transcript, by slot. A slot has at most one request under way."""

    @abstractmethod
    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        """Completions that are ready, by slot; a `Failure`, where there will be none, fails that one episode.

        Waits until there are `min_results` of them (or as many as are under way, if that is less), or until
        `timeout` seconds have passed; `timeout=0` takes what is there. What it raises ends the rollout.
        """

    def forget(self, slot: int) -> None:
        """The conversation in `slot` has ended: drop what is kept for it, a request under way included."""

    def close(self) -> None:
        """Give back what the policy holds."""


class InfoPolicy(Policy):
    """Says what the env itself suggests: `sample_action` is random play, `expert_action` the env's expert."""

    def __init__(self, method: str) -> None:
        self.info_methods = (method,)
        self._ready: dict[int, Completion] = {}

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        (method,) = self.info_methods
        for slot, transcript in transcripts.items():
            if method not in transcript.info:
                raise MissingInfo(f"this policy needs envs made with info_methods=({method!r},)")
            action = transcript.info[method]
            if action is None:
                raise MissingInfo(f"this environment has no expert: its {method}() gave None")
            self._ready[slot] = Completion(action)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        ready, self._ready = self._ready, {}
        return ready

    def forget(self, slot: int) -> None:
        self._ready.pop(slot, None)


def random_policy() -> Policy:
    """Random well-formed play: each env's `sample_action`."""
    return InfoPolicy("sample_action")


def expert_policy() -> Policy:
    """Each env's `expert_action`."""
    return InfoPolicy("expert_action")
