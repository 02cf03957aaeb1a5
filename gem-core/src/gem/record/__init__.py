"""Recordings: writing episodes to a file as they finish, and reading them. gem-eval replays them.

```python
with gem.make_vec(id, 64, info_methods=policy.info_methods) as envs, Recorder("episodes.jsonl") as recorder:
    for episode in recorder.record(rollout(policy, envs, seeds)):
        ...
```
"""

from gem.record.file import EPISODES_FILE, Recorder, read, recording_at, torn_bytes
from gem.record.resume import RecordedEpisodes, load_recorded

__all__ = ["EPISODES_FILE", "RecordedEpisodes", "Recorder", "load_recorded", "read", "recording_at", "torn_bytes"]
