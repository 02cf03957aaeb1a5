"""Policies for the tests of play, which decide what is answered when."""

import time
from collections.abc import Callable, Iterable, Mapping

from gem import seeding
from gem.episode import Completion, Start
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem_train.play import Play, Played


class Player(Policy):
    """Answers each request after a time of its own, as if tools were slow: the quickest is always answered next."""

    def __init__(self, slowest: int = 1, stuck: int = -1) -> None:
        self.version = 0
        self.slowest = slowest
        self.stuck = stuck
        """The seed of an episode that takes forever, unless nothing else is left to do."""
        self.asked: dict[int, tuple[float, Transcript]] = {}
        self.now = 0.0

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        for slot, transcript in transcripts.items():
            start = transcript.start
            assert start is not None
            delay = seeding.derive(start.seed, start.group, len(transcript.turns)) % self.slowest
            self.asked[slot] = (1e9 if start.seed == self.stuck else self.now + delay), transcript

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        self.now = min(due for due, _ in self.asked.values())
        ready = [slot for slot, (due, _) in self.asked.items() if due == self.now]
        answers: dict[int, Completion] = {}
        for slot in ready:
            start = self.asked.pop(slot)[1].start
            assert start is not None
            answers[slot] = Completion(
                f"{start.seed} {start.group}", (1,), (2,), (0.0,), weight_versions=(self.version,)
            )
        return answers

    def forget(self, slot: int) -> None:
        self.asked.pop(slot, None)

    def steps(self, play: Play, versions: Iterable[int]) -> list[Played]:
        """What the steps of a learner get that gives it new weights after each."""
        played: list[Played] = []
        for self.version in versions:
            played.append(play.step(self.version))
        return played


class Holding(Player):
    """Does not answer the episodes that it holds back; the others in any order."""

    def __init__(self, holds: Callable[[Start], bool] = lambda start: False) -> None:
        super().__init__()
        self.holds = holds

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        held = {slot: asked for slot, asked in self.asked.items() if asked[1].start and self.holds(asked[1].start)}
        self.asked = {slot: asked for slot, asked in self.asked.items() if slot not in held}
        try:
            if self.asked:
                return super().recv()
            time.sleep(0.001)
            return {}
        finally:
            self.asked |= held
