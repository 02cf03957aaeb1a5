"""Cost of recording an episode, compared with writing the same content as JSON.

    python benchmarks/recording.py [--repeats 15]

Microseconds of CPU time for one turn, medians of the repeats, in which both take turns: `Recorder.write` into a file on
this machine, and `json.dumps` of the contents of that file.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import gem
from gem.record import Recorder
from gem.rollout import rollout
from gem.rollout.policy import random_policy

ID, EPISODES = "game:GuessTheNumber-v0-hard", 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    policy = random_policy()
    with gem.make_vec(ID, 16, info_methods=policy.info_methods) as envs:
        episodes = list(rollout(policy, envs, starts=range(EPISODES)))
    turns = sum(len(episode.turns) for episode in episodes)
    taken = {"recorded": [], "JSON alone": []}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(arguments.repeats):
            file = Path(folder, f"{repeat}.jsonl")
            started = time.process_time()
            with Recorder(file) as recorder:
                for episode in episodes:
                    recorder.write(episode)
            taken["recorded"].append(time.process_time() - started)
            contents = [json.loads(line) for line in file.read_text().splitlines()]
            started = time.process_time()
            for content in contents:
                json.dumps(content)
            taken["JSON alone"].append(time.process_time() - started)
    report = {what: 1e6 * statistics.median(seconds) / turns for what, seconds in taken.items()}
    print(json.dumps({"turns": turns, "microseconds_per_turn": report}, indent=2))


if __name__ == "__main__":
    main()
