import gzip
import re
from collections import Counter
from functools import reduce
from importlib.resources import files
from operator import or_
from random import Random

import networkx
import pytest

from gem_envs_games.wiki_game import WikiGame
from gem_envs_games.wiki_game.graph import FARTHEST, Layers, WikiGraph, shipped
from gem_envs_games.wiki_game.page import key

DATA = files("gem_envs_games").joinpath("data")


def as_networkx():
    """The shipped file, read by other means."""
    graph = networkx.DiGraph()
    text = gzip.decompress(DATA.joinpath("wiki.tsv.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    graph.add_nodes_from(title for title, _, _ in rows)
    graph.add_edges_from((title, rows[int(link)][0]) for title, _, links in rows for link in links.split(" "))
    return graph


@pytest.fixture(scope="module")
def reference():
    return as_networkx()


def test_there_are_thousands_of_pages_each_with_its_own_title_a_sentence_and_links():
    titles = shipped().titles
    assert len(titles) >= 2000
    assert len({key(title) for title in titles}) == len(titles)
    for title in titles:
        page = shipped().page(title)
        assert page.title == title == " ".join(title.split())
        assert not set("{}[]|\\<>") & set(title)
        assert re.fullmatch(r"\S.{5,200}\.", page.text)
        assert page.links
        assert title not in page.links
        assert len(set(page.links)) == len(page.links) <= 48


def test_every_link_has_a_page_and_every_page_is_reached_from_every_other(reference):
    assert all(shipped().page(link) for title in shipped().titles for link in shipped().page(title).links)
    assert networkx.is_strongly_connected(reference)


def test_links_are_those_of_the_file(reference):
    for title in shipped().titles:
        assert set(shipped().page(title).links) == set(reference.successors(title))


def test_distances_are_those_that_networkx_finds(reference):
    graph = shipped()
    backwards = reference.reverse()
    for target in Random(0).sample(graph.titles, 8):
        lengths = networkx.single_source_shortest_path_length(backwards, target)
        layers = Layers(graph._back, graph.titles.index(target))
        for steps, count in Counter(lengths.values()).items():
            layer = {graph.titles[number] for number in layers.at(steps)}
            assert len(layer) == count
            assert all(lengths[title] == steps for title in layer)


def test_start_and_target_are_as_far_apart_as_the_settings_say_and_every_distance_occurs(reference):
    for low, high in [(1, 1), (2, 4), (FARTHEST, FARTHEST)]:
        env = WikiGame(max_turns=FARTHEST, min_distance=low, max_distance=high)
        lengths = set()
        for seed in range(40):
            env.reset(seed=seed)
            lengths.add(networkx.shortest_path_length(reference, env.page.title, env.target.title))
        assert lengths == set(range(low, high + 1))


def test_every_target_has_a_start_at_each_distance():
    """By sets of pages as bits of a number: what can be reached in k + 1 links is what its links reach in k."""
    graph = shipped()
    number = {title: at for at, title in enumerate(graph.titles)}
    links = [[number[link] for link in graph.page(title).links] for title in graph.titles]
    within = [1 << at for at in range(len(links))]
    for _ in range(FARTHEST):
        further = [reduce(or_, (within[link] for link in links[at]), within[at]) for at in range(len(links))]
        fresh = reduce(or_, (new & ~old for new, old in zip(further, within, strict=True)))
        assert fresh.bit_count() == len(links)
        within = further


def test_every_link_of_the_expert_leads_nearer(reference):
    env = WikiGame(max_turns=FARTHEST, min_distance=FARTHEST, max_distance=FARTHEST)
    for seed in range(20):
        env.reset(seed=seed)
        for left in reversed(range(FARTHEST)):
            env.step(env.expert_action())
            assert networkx.shortest_path_length(reference, env.page.title, env.target.title) == left


def test_nearest_takes_the_first_of_equals_and_none_where_no_path_leads():
    graph = WikiGraph(["A\tA.\t1 2", "B\tB.\t3", "C\tC.\t3", "D\tD.\t", "E\tE.\t4"])
    assert graph.nearest(["C", "B"], "D") == "C"
    assert graph.nearest(["A", "B"], "D") == "B"
    assert graph.nearest(["E"], "D") is None
    assert graph.nearest([], "D") is None


@pytest.mark.parametrize(
    ("start", "link"),
    [
        ("France", "Paris"),
        ("France", "Spain"),
        ("Paris", "France"),
        ("Isaac Newton", "Physicist"),
        ("Physicist", "Albert Einstein"),
        ("Lion", "Africa"),
        ("Wyoming", "Montana"),
        ("Danube River", "Black Sea"),
        ("English language", "United States"),
        ("Euro", "Germany"),
        ("Monday", "Tuesday"),
    ],
)
def test_links_that_a_reader_expects_are_there(start, link):
    assert link in shipped().page(start).links


def test_the_file_is_small_and_its_provenance_counts_its_pages_and_names_its_sources():
    packed = DATA.joinpath("wiki.tsv.gz").read_bytes()
    assert len(packed) < 300_000
    provenance = DATA.joinpath("WIKI.md").read_text(encoding="utf-8")
    links = sum(len(shipped().page(title).links) for title in shipped().titles)
    assert f"{len(shipped().titles):,} pages with {links:,} links" in provenance
    for name, owner in [("WORDNET-COPYRIGHT.txt", "Princeton University"), ("CLDR-COPYRIGHT.txt", "Unicode, Inc.")]:
        assert f"]({name})" in provenance
        assert owner in DATA.joinpath(name).read_text(encoding="utf-8")
    assert "GeoNames" in provenance
    assert "CC BY 4.0" in provenance


def test_the_graph_is_read_once_per_process():
    assert WikiGame()._wiki is WikiGame()._wiki is shipped()
