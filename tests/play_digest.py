"""Plays every id of the packs below that needs no download, and prints digests in JSON: run by test_pythons.py."""

import hashlib
import json
import sys

import gem
import gem.data
import gem_envs_arena.plugin
import gem_envs_games.plugin
import gem_envs_math.plugin
import gem_envs_qa.plugin
import gem_tools.plugin

PACKS = (gem_envs_arena.plugin, gem_envs_games.plugin, gem_envs_math.plugin, gem_envs_qa.plugin, gem_tools.plugin)


def ships(spec: gem.EnvSpec) -> bool:
    """Whether an id is generated, or its rows are in the pack."""
    data = spec.kwargs.get("data")
    return data is None or gem.data.DataSource(**data).kind == "package"


SPECS = [spec for pack in PACKS for spec in pack.gem_envs() if ships(spec)]


def digest(env: gem.Env, say: str, seeds: int) -> str:
    """A digest of every action, observation, reward, flag and info of the episodes from the first `seeds` seeds."""
    everything = hashlib.sha256()
    for seed in range(seeds):
        everything.update(repr(env.reset(seed=seed)).encode())
        done = False
        while not done:
            action = getattr(env, say)() or env.sample_action()  # a few games have no expert
            step = env.step(action)
            everything.update(repr((action, *step)).encode())
            done = step.done
    return everything.hexdigest()


if __name__ == "__main__":
    seeds = int(sys.argv[1])
    names = ("sample_action", "expert_action")
    print(json.dumps({f"{spec.id} {say}": digest(gem.make(spec), say, seeds) for spec in SPECS for say in names}))
