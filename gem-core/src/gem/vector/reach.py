"""The end of a rollout because something that its envs depend on cannot be reached."""

from gem.errors import Failure, Unreachable

IN_A_ROW = 5
"""Episodes of an id that fail in a row because something cannot be reached, until the others are not played."""


class Reach:
    """Counts the episodes in a row that failed as `gem.errors.Unreachable`, by id."""

    def __init__(self) -> None:
        self._in_a_row: dict[str | None, int] = {}

    def ended(self, id: str | None, failure: Failure | None) -> Unreachable | None:
        """An episode of this id has ended; returns what to raise, if no more shall be played."""
        if failure is None:
            self._in_a_row.pop(id, None)
        if failure is None or not failure.unreachable:
            return None
        count = self._in_a_row[id] = self._in_a_row.get(id, 0) + 1
        if count < IN_A_ROW:
            return None
        _, _, why = failure.error.partition(": ")
        return Unreachable(f"{why}; {count} episodes of {id} in a row failed for this reason, so no more are played")
