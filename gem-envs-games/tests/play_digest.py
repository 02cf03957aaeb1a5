"""Plays every id of the pack and prints what came of it, as digests in JSON: run by test_determinism.py."""

import hashlib
import json
import sys

import gem
from gem_envs_games import plugin


def digest(env: gem.Env, say: str, seeds: int) -> str:
    """A digest of every observation, reward, flag and info of the episodes from the first `seeds` seeds."""
    everything = hashlib.sha256()
    for seed in range(seeds):
        everything.update(repr(env.reset(seed=seed)).encode())
        done = False
        while not done:
            step = env.step(getattr(env, say)())
            everything.update(repr(tuple(step)).encode())
            done = step.done
    return everything.hexdigest()


if __name__ == "__main__":
    seeds = int(sys.argv[1])
    names = ("sample_action", "expert_action")
    print(json.dumps({f"{s.id} {say}": digest(gem.make(s), say, seeds) for s in plugin.gem_envs() for say in names}))
