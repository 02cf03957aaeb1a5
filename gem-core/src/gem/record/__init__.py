"""Recordings: writing episodes to a file as they finish, reading them, and replaying them.

```python
with gem.make_vec(id, 64, info_methods=policy.info_methods) as envs, Recorder("episodes.jsonl") as recorder:
    for episode in recorder.record(rollout(policy, envs, seeds)):
        ...
```
"""

from gem.record.file import EPISODES_FILE, Recorder, read, recording_at, torn_bytes
from gem.record.format import EpisodeRecord, PackVersion, TurnRecord
from gem.record.replay import Difference, Rescore, outdated, reproduce, rescore
from gem.record.resume import RecordedEpisodes, episode_of, load_recorded

__all__ = [
    "EPISODES_FILE",
    "Difference",
    "EpisodeRecord",
    "PackVersion",
    "RecordedEpisodes",
    "Recorder",
    "Rescore",
    "TurnRecord",
    "episode_of",
    "load_recorded",
    "outdated",
    "read",
    "recording_at",
    "reproduce",
    "rescore",
    "torn_bytes",
]
