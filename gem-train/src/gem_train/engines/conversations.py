"""Conversations, their requests, and the rows of the cache that they have."""

from dataclasses import dataclass, field

from gem.chat.encoder import Prompt
from gem.episode import FinishReason
from gem_train.engines import sampler
from gem_train.engines.noise import Noise

NONE = -1
"""The row of a conversation without one."""

_DENSE = 0.75
"""Busy rows are moved together if less than this share of the rows up to the last of them is busy."""
_WORTHWHILE = 16
"""Ids that two conversations must share for one to copy them from the other."""
_RECENT = 8
"""Number of earlier conversations that are compared with a new one that has an opening of its own."""


@dataclass(slots=True, eq=False)
class Request:
    """A reply in progress."""

    stops: tuple[str, ...]
    noise: Noise
    limit: int
    """The most ids that the reply can have."""
    finish_reason: FinishReason
    """Reason of its end so far, if it reaches the limit."""
    ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    versions: list[int] = field(default_factory=list[int])


@dataclass(slots=True, eq=False)
class Conversation(sampler.Conversation):
    """The state of one transcript, and its place in the cache."""

    cached: int = 0
    """Number of ids with keys and values in the cache."""
    row: int = NONE
    request: Request | None = None
    running: bool = False
    """True if the request is being worked on; otherwise it waits."""
    opening: tuple[int, ...] = ()
    """Its opening, as `Rows` remembers it."""
    used: int = 0
    """Number of its last request."""

    @property
    def is_read(self) -> bool:
        """True if all of the context is cached."""
        return self.cached == len(self.context)

    def read(self, prompt: Prompt) -> None:
        """Extend the context by a prompt. What a new segment shares with the context so far remains cached."""
        if prompt.new_segment:
            self.cached = min(self.cached, shared_length(self.context, list(prompt.ids)))
        sampler.Conversation.read(self, prompt)
        # The last id is always read anew, for the logits behind it.
        self.cached = min(self.cached, len(self.context) - 1)


def shared_length(first: list[int], second: list[int]) -> int:
    """Number of ids that two sequences have in common at their beginning."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Rows:
    """Rows of the cache by conversation.

    Args:
        most: how many rows there can be; None for as many as there are conversations.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._owners: list[Conversation | None] = []
        self._openings: dict[tuple[int, ...], Conversation] = {}
        self._clock = 0

    def __len__(self) -> int:
        """Number of rows that have been in use at once."""
        return len(self._owners)

    def take(self, conversation: Conversation) -> bool:
        """Give it a row, if need be that of the idle conversation that was used least recently; False if all are busy.

        A conversation without its row is computed again when it is continued.
        """
        self._clock += 1
        conversation.used = self._clock
        if conversation.row != NONE:
            return True
        row = next((index for index, owner in enumerate(self._owners) if owner is None), NONE)
        if row == NONE and (self._most is None or len(self._owners) < self._most):
            row = len(self._owners)
            self._owners.append(None)
        if row == NONE:
            idle = [owner for owner in self._owners if owner is not None and owner.request is None]
            if not idle:
                return False
            last = min(idle, key=lambda owner: owner.used)
            row = last.row
            self.release(last)
        self._owners[row] = conversation
        conversation.row = row
        return True

    def release(self, conversation: Conversation) -> None:
        """Take its row away."""
        if conversation.row != NONE:
            self._owners[conversation.row] = None
            conversation.row, conversation.cached = NONE, 0
        self._remember(conversation, ())

    def find_shared(self, conversation: Conversation) -> tuple[Conversation | None, int]:
        """A conversation in another row that begins alike, and how many ids can be copied from it.

        The number is -1 if another conversation now reads so much more of the same ids that it is better to wait for
        it. Otherwise `conversation` is remembered for those to come.
        """
        ids = conversation.context
        opening, whole = tuple(ids), len(ids) - 1
        source, ready, promised = None, 0, 0
        others = list(self._openings.values())[-_RECENT:]
        same = self._openings.get(opening)
        for other in others if same is None else (same, *others):
            length = min(shared_length(other.context, ids), whole)
            promised = max(promised, length if other.running else 0)
            if min(length, other.cached) > ready:
                source, ready = other, min(length, other.cached)
            if ready == whole:
                break
        if promised == whole > ready or promised - ready >= _WORTHWHILE:
            return None, -1
        self._remember(conversation, opening)
        return (source, ready) if ready >= _WORTHWHILE else (None, 0)

    def _remember(self, conversation: Conversation, opening: tuple[int, ...]) -> None:
        """Remember what it begins with, instead of what was remembered of it before."""
        if self._openings.get(conversation.opening) is conversation:
            del self._openings[conversation.opening]
        conversation.opening = opening
        if opening:
            self._openings.setdefault(opening, conversation)

    def moves(self) -> list[tuple[int, int]]:
        """Move the busy conversations to the first rows, if they are scattered; ``(from, to)`` for each row to copy."""
        rows = [row for row, owner in enumerate(self._owners) if owner is not None and owner.request is not None]
        if not rows or len(rows) >= _DENSE * (rows[-1] + 1):
            return []
        outside = [row for row in rows if row >= len(rows)]
        inside = set(range(len(rows))) - set(rows)
        pairs: list[tuple[int, int]] = []
        for source, target in zip(outside, sorted(inside), strict=True):
            moved, idle = self._owners[source], self._owners[target]
            assert moved is not None
            pairs.append((source, target))
            moved.row = target
            if idle is not None:
                idle.row = source
                pairs.append((target, source))
            self._owners[source], self._owners[target] = idle, moved
        return pairs
