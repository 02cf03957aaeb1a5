"""Episodes: where one came from, what each player saw, said and earned, and how it ended.

The one type of an episode in memory, in recordings and on pages; `gem.episode.codec` writes and reads it.
"""

from gem.episode.episode import Episode, PackVersion, Start, Trace
from gem.episode.turn import ApiTools, Completion, FinishReason, TokenTexts, Turn, Usage

__all__ = [
    "ApiTools",
    "Completion",
    "Episode",
    "FinishReason",
    "PackVersion",
    "Start",
    "TokenTexts",
    "Trace",
    "Turn",
    "Usage",
]
