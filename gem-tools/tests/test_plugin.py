"""The pack is found and loads."""

from gem.packs.registry import Registry


def test_the_pack_is_found_and_loads_without_a_fault():
    (pack,) = Registry().load("tools")
    assert (pack.distribution, pack.state, pack.reason) == ("gem-tools", "loaded", None)
    assert {"fetch", "search"} <= set(pack.tools)
