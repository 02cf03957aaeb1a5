"""Policies, which turn transcripts into completions.

A policy takes transcripts with `send` and returns completions with `recv`, later and in any order. A *slot* is the
number of one conversation, until `forget` ends it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from gem.episode import Completion
from gem.errors import Failure, MissingInfo
from gem.rollout.transcript import Transcript

__all__ = ["Completion", "Failure", "InfoPolicy", "Policy", "expert_policy", "random_policy"]


class Policy(ABC):
    """Turns transcripts into completions."""

    info_methods: tuple[str, ...] = ()
    """Names of env methods, such as `"sample_action"`, whose results this policy needs in each `info`:
    `gem.make_vec(…, info_methods=policy.info_methods)`."""

    @abstractmethod
    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        """Request one completion of each transcript, by slot. A slot has at most one pending request."""

    @abstractmethod
    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        """The completions that are ready, by slot; a `Failure` instead fails that one episode.

        Waits until there are `min_results` (or as many as are pending, if that is less), or for `timeout` seconds;
        `timeout=0` does not wait: a policy that works in this call does a little work, such as one token of each reply,
        and returns, because environments may be ready meanwhile. An exception ends the rollout.
        """

    def forget(self, slot: int) -> None:
        """The conversation in `slot` has ended: drop its data, a pending request included."""

    def close(self) -> None:
        """Release resources."""


class InfoPolicy(Policy):
    """Plays what a method of the env returns: `sample_action` (random play) or `expert_action` (the expert)."""

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
                id = (transcript.start and transcript.start.id) or "this environment"
                raise MissingInfo(f"{id} does not have an expert: its {method}() returned None")
            self._ready[slot] = Completion(action)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        ready, self._ready = self._ready, {}
        return ready

    def forget(self, slot: int) -> None:
        self._ready.pop(slot, None)


def random_policy() -> Policy:
    """Random well-formed play: each env's `sample_action`."""
    return InfoPolicy("sample_action")


def expert_policy() -> Policy:
    """The expert's play: each env's `expert_action`."""
    return InfoPolicy("expert_action")
