"""A pack with two sources: `sums:N`, whose names it knows, and `far:URL`, whose names it cannot know."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_envs():
    return [gem.EnvSpec(id="sums:One-v0", entry_point="sample_envs:Sum", kwargs={"rounds": 1})]


@gem.hookimpl
def gem_sources():
    return [
        gem.EnvSource(
            namespace="sums",
            form="sums:N",
            description="Sums of N numbers",
            resolve="source_pack:sums",
            names="source_pack:known",
            safe=True,
        ),
        gem.EnvSource(namespace="far", form="far:URL", description="Envs elsewhere", resolve="source_pack:far"),
    ]


def sums(name):
    if name == "odd":
        return "not a spec"
    if name not in known():
        return None
    rounds = int(name.removeprefix("rounds"))
    return gem.EnvSpec(
        id=f"sums:{name}", entry_point="sample_envs:Sum", kwargs={"rounds": rounds}, notes=("no limit", "no snapshots")
    )


def known():
    return ["rounds1", "rounds2", "rounds3"]


def far(name):
    return gem.EnvSpec(id=f"far:{name}", entry_point="sample_envs:Sum", kwargs={"rounds": len(name)})
