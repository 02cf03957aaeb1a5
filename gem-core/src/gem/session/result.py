"""What a session ends with."""

from dataclasses import dataclass

from gem.failure import Failure
from gem.rollout.segments import Segment, segments_of
from gem.rollout.transcript import Episode


@dataclass(frozen=True, slots=True)
class Result:
    """A finished episode, as a trainer needs it.

    An episode that failed has neither segments nor a return: it says nothing about the model, and is not to be trained
    on.
    """

    episode: Episode
    """Its turns, how it ended, and where it started."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Its ids; several where the chat template changed earlier messages. Empty without ids, and after a failure."""
        if self.episode.failure is not None or not any(turn.completion.prompt_ids for turn in self.episode.turns):
            return ()
        return segments_of(self.episode.turns)

    @property
    def success(self) -> bool:
        """Whether the task was solved."""
        return self.episode.success

    @property
    def total_reward(self) -> float | None:
        """The undiscounted return; None if the episode failed."""
        return None if self.episode.failure is not None else self.episode.total_reward

    @property
    def failure(self) -> Failure | None:
        """What failed; None if nothing did."""
        return self.episode.failure
