"""The wrappers of the core: history in one string, limits, statistics.

| name for `gem.make(…, wrappers="a,b")` | class | effect |
|---|---|---|
| `concat` | `Concat` | every observation of the episode so far, in one string |
| `concat_with_action` | `ConcatWithAction` | the same with the actions |
| `concat_chat` | `ConcatChat` | the same as one rendered chat prompt |
| `concat_chat_on_reset` | `ConcatChatOnReset` | the first observation as a chat prompt, plain text after it |
| `episode_tracking` | `EpisodeTracking` | turns and return so far, in the info |
| `turn_limit`, `time_limit` | `TurnLimit`, `TimeLimit` | truncate an episode |

Settings are given with the name: `gem.make(id, wrappers=[{"name": "turn_limit", "max_turns": 5}])`.
"""

from gem.wrappers.chat import ChatTemplate, ConcatChat, ConcatChatOnReset, HasChatTemplate
from gem.wrappers.concat import Concat, ConcatWithAction
from gem.wrappers.limits import TimeLimit, TurnLimit
from gem.wrappers.tracking import EpisodeTracking

__all__ = [
    "ChatTemplate",
    "Concat",
    "ConcatChat",
    "ConcatChatOnReset",
    "ConcatWithAction",
    "EpisodeTracking",
    "HasChatTemplate",
    "TimeLimit",
    "TurnLimit",
]
