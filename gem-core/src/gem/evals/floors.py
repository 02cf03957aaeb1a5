"""The floors of an evaluation: random play, and the environment's expert."""

from collections.abc import Mapping

from gem.failure import Failure
from gem.rollout.policy import InfoPolicy
from gem.rollout.transcript import Completion, Transcript

METHODS = {"random": "sample_action", "expert": "expert_action"}
"""Floor → the method of an env that plays it."""


class FloorPolicy(InfoPolicy):
    """Plays a floor, and fails episodes of ids that do not have it."""

    def __init__(self, floor: str) -> None:
        super().__init__(METHODS[floor])
        self.lacking: set[str | None] = set()
        """The ids without it."""
        self._failed: dict[int, Failure] = {}

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        (method,) = self.info_methods
        known = {slot: each for slot, each in transcripts.items() if each.info.get(method) is not None}
        super().send(known)
        for slot in transcripts.keys() - known.keys():
            start = transcripts[slot].start
            self.lacking.add(start.id if start else None)
            self._failed[slot] = Failure(f"{method}() returned None", "")

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        failed, self._failed = self._failed, {}
        return {**super().recv(min_results, timeout), **failed}
