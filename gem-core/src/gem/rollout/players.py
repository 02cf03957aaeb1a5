"""A policy for each player of a game."""

import time
from collections.abc import Callable, Mapping
from operator import attrgetter

from gem.episode import Completion
from gem.errors import Failure, PolicyError
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript

_PAUSE = 0.001
"""Seconds to wait when none of several busy policies has a reply, or works in this thread."""


class PlayerPolicies(Policy):
    """Several policies as one: each plays the conversations of its players. Closing it closes none of them.

    While several of them are busy each is asked in turn, without waiting for it. So policies that work when they are
    asked, such as models in this process, do so in the same order whatever time it takes, and compute the same again.

    Args:
        policies: player → policy. The same policy may play for several.
        name_of: names the policy of a conversation among `policies`, instead of its player, such as one that changes
            from episode to episode.
    """

    def __init__(
        self, policies: Mapping[str, Policy], name_of: Callable[[Transcript], str] = attrgetter("player")
    ) -> None:
        self._policies = dict(policies)
        self._name_of = name_of
        self._pending: dict[Policy, set[int]] = {each: set() for each in policies.values()}
        self.info_methods = tuple(dict.fromkeys(name for each in self._pending for name in each.info_methods))

    def policy_of(self, transcript: Transcript) -> Policy:
        """The policy that plays a conversation; `PolicyError` if there is none."""
        name = self._name_of(transcript)
        if name not in self._policies:
            known = ", ".join(map(repr, self._policies))
            raise PolicyError(f"the env asks the player {transcript.player!r}, and there are policies for {known}")
        return self._policies[name]

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        of_policy: dict[Policy, dict[int, Transcript]] = {}
        for slot, transcript in transcripts.items():
            of_policy.setdefault(self.policy_of(transcript), {})[slot] = transcript
        for policy, asked in of_policy.items():
            self._pending[policy] |= asked.keys()
            policy.send(asked)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            began = time.monotonic()
            busy = [policy for policy, slots in self._pending.items() if slots]
            left = None if until is None else max(0.0, until - began)
            ready: dict[int, Completion | Failure] = {}
            for policy in busy:
                ready |= policy.recv(timeout=left if len(busy) == 1 else 0.0)
                self._pending[policy] -= ready.keys()
            if ready or not busy or left == 0.0:
                return ready
            if time.monotonic() - began < _PAUSE:  # none of them works here
                time.sleep(_PAUSE)

    def forget(self, slot: int) -> None:
        for policy, slots in self._pending.items():
            slots.discard(slot)
            policy.forget(slot)
