"""Names that several packs claim: one owner each, in any order of requests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gem
from gem.packs import registry
from gem.packs.discovery import CORE, Pack
from gem.packs.lookup import find_named
from gem.packs.registry import Registry

PLUGIN = """
import gem

GEM_API = 1

@gem.hookimpl
def gem_envs():
    return [gem.EnvSpec(id="{name}:Echo-v0", entry_point="gem.packs.echo:Echo")]

@gem.hookimpl
def {hook}():
    return {answer}
"""

TABLES = {
    "command": ("gem_commands", "[gem.CommandSpec(name='shout', entry_point='a:b', help='Nothing')]"),
    "tool": ("gem_tools", "{'shout': 'a:b'}"),
    "wrapper": ("gem_wrappers", "{'shout': 'a:b'}"),
    "policy": ("gem_policies", "{'shout': 'a:b'}"),
    "reward": ("gem_rewards", "{'shout': 'a:b'}"),
    "algorithm": ("gem_algorithms", "{'shout': 'a:b'}"),
    "probe": ("gem_probes", "{'shout': 'a:b'}"),
}
"""Kind of thing → a hook, and an answer to it that offers one thing of that kind, called "shout"."""

Plant = Callable[..., Pack]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Makes a pack with one env in the namespace of its name, and one hook more."""
    monkeypatch.syspath_prepend(tmp_path)

    def plant(name: str, hook: str, answer: str) -> Pack:
        module = f"{tmp_path.name}_{name}"
        (tmp_path / f"{module}.py").write_text(PLUGIN.format(name=name, hook=hook, answer=answer))
        return Pack(f"{name}-pack", "1.0", module, (name,))

    return plant


@pytest.mark.parametrize("first", ["early", "late", None])
@pytest.mark.parametrize("kind", TABLES)
def test_of_two_packs_that_claim_a_name_the_first_has_it_whatever_is_asked_for_first(
    plant: Plant, kind: str, first: str | None
) -> None:
    packs = [plant("early", *TABLES[kind]), plant("late", *TABLES[kind])]
    fresh = Registry(packs)
    fresh.load(first)
    fresh.load()

    assert [pack.state for pack in packs] == ["loaded", "failed"]
    assert packs[1].reason == f"it claims the {kind} 'shout', which belongs to early-pack"
    assert [entry.spec.id for entry in fresh.entries()] == ["early:Echo-v0"]


def test_one_name_may_be_that_of_things_of_several_kinds(plant: Plant) -> None:
    packs = [plant(kind, *table) for kind, table in TABLES.items()]
    Registry(packs).load()

    assert [pack.state for pack in packs] == ["loaded"] * len(packs)


def test_threads_that_load_a_pack_at_once_all_find_it_and_load_it_once(plant: Plant, tmp_path: Path) -> None:
    pack = plant("slow", *TABLES["tool"])
    module = tmp_path / f"{pack.module}.py"
    module.write_text(f"import time\ntime.sleep(0.2)\n{module.read_text()}")
    shared = Registry([pack])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [dict(each.tools) for each in shared.load()], range(8)))

    assert found == [[{"shout": "a:b"}]] * 8
    assert (pack.state, pack.reason) == ("loaded", None)


def test_a_pack_that_lists_a_name_twice_is_refused(plant: Plant) -> None:
    hook, answer = TABLES["command"]
    pack = plant("double", hook, f"2 * {answer}")
    Registry([pack]).load()

    assert (pack.state, pack.reason) == ("failed", "it lists the command 'shout' twice")


def test_the_cores_own_names_are_found_without_loading_another_pack(
    plant: Plant, core_only: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = plant("other", "gem_tools", "{}")
    core = next(pack for pack in core_only.packs if pack.distribution == CORE)
    monkeypatch.setattr(registry, "_registry", Registry([core, other]))

    gem.make("core:Echo-v0", wrappers="concat")
    find_named("wrapper", "concat_chat")
    find_named("policy", "expert")

    assert other.state == "found"
