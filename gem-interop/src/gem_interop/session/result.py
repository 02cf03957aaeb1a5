"""Result of a session."""

from dataclasses import dataclass

from gem.episode import Episode
from gem.episode.segments import Segment, segments_of
from gem.errors import Failure


@dataclass(frozen=True, slots=True)
class Result:
    """A finished episode, as a trainer needs it.

    An episode that failed has neither segments nor a return: it says nothing about the model, and is not to be trained
    on.
    """

    episode: Episode
    """The episode: its turns, how it ended, and where it started."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Segments of its ids: several where the template changed earlier messages, none after a failure.

        Those of several players follow each other, in the order of `episode.traces`.
        """
        return tuple(segment for trace in self.episode.traces for segment in self.segments_of(trace.player))

    def segments_of(self, player: str) -> tuple[Segment, ...]:
        """Segments of the ids of one player."""
        turns = [turn for trace in self.episode.traces if trace.player == player for turn in trace.turns]
        if self.episode.failure is not None or not any(turn.completion.prompt_ids for turn in turns):
            return ()
        return segments_of(turns)

    @property
    def success(self) -> bool:
        """True if the task was solved."""
        return self.episode.success

    @property
    def total_reward(self) -> float | None:
        """The undiscounted return; None if the episode failed."""
        return None if self.episode.failure is not None else self.episode.total_reward

    @property
    def failure(self) -> Failure | None:
        """The failure; None if nothing failed."""
        return self.episode.failure
