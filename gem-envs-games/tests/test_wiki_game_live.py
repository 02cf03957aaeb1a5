"""WikiGame against servers on this machine that speak MediaWiki's API and kiwix-serve's."""

import time
from random import Random
from threading import Thread

import pytest
from wiki_server import PAGES, Server

from gem.errors import Fault
from gem_envs_games.replies import box
from gem_envs_games.wiki_game import WikiGame
from gem_envs_games.wiki_game.kiwix import Kiwix
from gem_envs_games.wiki_game.live import WikiUnavailable, WikiUnreachable
from gem_envs_games.wiki_game.mediawiki import MediaWiki
from gem_envs_games.wiki_game.page import Page


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def settings(server, backend, **more):
    where = {"url": server.url + "/w/api.php"} if backend == "mw" else {"url": server.url, "zimfile": "wiki"}
    return {"query_delay_ms": 0, **where, **more}


def wiki(server, backend, **more):
    return {"mw": MediaWiki, "kiwix": Kiwix}[backend](**settings(server, backend, **more))


def game(server, backend, *, trawler=None, **kwargs):
    return WikiGame(backend=backend, trawler_kwargs=settings(server, backend, **(trawler or {})), **kwargs)


both = pytest.mark.parametrize("backend", ["mw", "kiwix"])


@both
def test_a_page_has_its_title_its_text_and_links_to_other_articles(server, backend):
    page = wiki(server, backend).page("Matter")
    assert page == Page("Matter", "Matter has mass.", ("Physics", "Energy", "Ångström"))


@both
def test_titles_with_slashes_and_letters_beyond_ascii_are_read_and_found(server, backend):
    found = wiki(server, backend)
    assert found.page("AC/DC").title == "AC/DC"
    assert {"Physics", "Ångström"} <= set(found.page("AC/DC").links)
    assert found.page("Ångström").text == "The ångström is a unit of length."


@both
@pytest.mark.parametrize(
    ("title", "leads_to"), [("Warmth", "Heat"), ("Å", "Ångström"), ("Mercury", "Mercury (planet)")]
)
def test_redirects_and_lists_of_meanings_lead_to_an_article(server, backend, title, leads_to):
    assert wiki(server, backend).page(title).title == leads_to


@both
def test_a_title_without_a_page_has_none(server, backend):
    assert wiki(server, backend).page("Nowhere") is None
    assert wiki(server, backend).page("Mercury (lost film)") is None


def test_red_links_of_a_mediawiki_are_left_out(server):
    page, lists_meanings = wiki(server, "mw")._fetch("Mercury")
    assert lists_meanings
    assert page.links == ("Mercury (planet)",)


@both
def test_an_episode_is_played_to_its_end_by_the_titles_on_the_pages(server, backend):
    env = game(server, backend)
    observation, _ = env.reset(seed=0, options={"start": "Physics", "target": "Å"})
    assert "Target page: Ångström (The ångström is a unit of length.)" in observation
    assert "You are on: Physics (Physics is the science of matter.)\nLinks of this page:\nEnergy\nMatter" in observation
    assert env.step(box("Matter")).reward == -0.05
    assert env.expert_action() is None
    step = env.step(box("ångström"))
    assert (step.reward, step.info) == (1.0, {"success": True})


@both
def test_the_target_is_the_end_of_a_walk_from_a_page_of_the_servers_choice(server, backend):
    env = game(server, backend, min_distance=2, max_distance=3)
    targets = set()
    for seed in range(12):
        env.reset(seed=seed)
        assert env.page.title == "Physics"
        targets.add(env.target.title)
    assert targets <= {"Heat", "End", "Ångström", "Energy", "Matter", "Mercury (planet)", "AC/DC"}
    assert len(targets) > 1
    assert "Physics" not in targets


def test_the_same_generator_walks_the_same_way(server):
    found = wiki(server, "mw")
    assert found.draw(Random(5), 2, 3) == found.draw(Random(5), 2, 3)


@both
def test_a_link_whose_page_is_gone_costs_a_turn_and_is_taken_from_the_page(server, backend):
    env = game(server, backend)
    env.reset(seed=0, options={"start": "Physics", "target": "End"})
    server.gone.add("Energy")
    step = env.step(box("Energy"))
    assert "you followed Energy, but there is no such page." in step.observation
    assert (step.reward, step.done, env.page.title) == (-0.05, False, "Physics")
    assert "Energy" not in env.page.links
    assert env.step(box("Energy")).reward == -0.2


@both
def test_a_dead_end_that_is_not_the_target_loses(server, backend):
    env = game(server, backend)
    env.reset(seed=0, options={"start": "Heat", "target": "Physics"})
    assert env.step(box("End")).info == {"success": False}


@both
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_after_a_passing_error_the_server_is_asked_again(server, backend, status):
    server.troubles += [(status, {"Retry-After": "0"}), (status, {})]
    assert wiki(server, backend).page("Heat").title == "Heat"


@both
@pytest.mark.parametrize(("status", "asked"), [(503, 2), (403, 1), (400, 1)])
def test_a_server_that_keeps_failing_is_a_fault(server, backend, status, asked):
    server.troubles += [(status, {"Retry-After": "0"})] * 9
    with pytest.raises(WikiUnavailable, match=rf"{server.url}.*answers {status}.*Check that the server runs") as raised:
        wiki(server, backend, max_query_attempts=2).page("Heat")
    assert isinstance(raised.value, Fault)  # commands print its text alone
    assert len(server.requests) == asked


@both
def test_a_server_that_takes_too_long_is_a_fault(server, backend):
    server.slow = 1.0
    begun = time.monotonic()
    with pytest.raises(WikiUnavailable, match="timed out"):
        wiki(server, backend, max_query_attempts=1, timeout=0.05).page("Heat")
    assert time.monotonic() - begun < 0.9


@both
def test_a_server_that_is_not_there_is_a_fault(server, backend):
    found = wiki(server, backend, max_query_attempts=1)
    server.shutdown()
    server.server_close()
    with pytest.raises(WikiUnreachable, match="Connection refused"):
        found.page("Heat")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (b"<html>hello</html>", "not answer in JSON"),
        (b'{"error": {"code": "maxlag", "info": "Waiting for a database"}}', "maxlag: Waiting for a database"),
    ],
)
def test_an_answer_that_mediawiki_would_not_give_is_a_fault(server, body, wrong):
    server.body = body
    with pytest.raises(WikiUnavailable, match=wrong):
        wiki(server, "mw").page("Heat")


def test_a_url_without_an_api_and_a_file_that_kiwix_does_not_have_are_faults(server):
    with pytest.raises(WikiUnavailable, match=r"ends in api\.php"):
        MediaWiki(url=server.url + "/other").page("Heat")
    with pytest.raises(WikiUnavailable, match="no random page of 'other'"):
        Kiwix(url=server.url, zimfile="other").draw(Random(0), 1, 1)


@both
def test_a_fault_in_the_middle_of_an_episode_raises_and_gives_no_reward(server, backend):
    env = game(server, backend, trawler={"max_query_attempts": 1})
    env.reset(seed=0, options={"start": "Physics", "target": "End"})
    server.troubles += [(500, {})]
    with pytest.raises(WikiUnavailable):
        env.step(box("Energy"))


@both
def test_a_snapshot_holds_the_pages_so_far_and_others_are_asked_for_when_they_are_visited(server, backend):
    env, other = game(server, backend, variant="freenav"), game(server, backend, variant="freenav")
    env.reset(seed=0, options={"start": "Physics", "target": "End"})
    env.step(box("Energy"))
    asked = len(server.requests)
    other.restore(env.snapshot())
    assert other.step(box("nowhere")) == env.step(box("nowhere"))
    assert len(server.requests) == asked
    assert other.step(box("Heat")) == env.step(box("Heat"))
    assert len(server.requests) > asked


@both
def test_with_the_cache_a_page_is_asked_for_once_per_episode(server, backend):
    env = game(server, backend, trawler={"query_use_cache": True}, min_distance=1, max_distance=1)
    env.reset(seed=0)
    link = next(title for title in env.page.links if title in PAGES and title != env.target.title)
    env.step(box(link))
    asked = len(server.requests)
    env.step(box("Physics"))
    assert len(server.requests) == asked
    env.reset(seed=0)
    assert len(server.requests) > asked


def test_requests_name_this_package(server):
    wiki(server, "mw").page("Heat")
    assert all("gem-envs-games" in agent for _, agent in server.requests)


MALFORMED = [
    b"null",
    b"[]",
    b"3",
    b'"x"',
    b"{}",
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"error": null}',
    b'{"error": "no"}',
    b'{"query": []}',
    b'{"query": {"pages": {}, "random": {}}}',
    b'{"query": {"pages": [], "random": []}}',
    b'{"query": {"pages": [7], "random": [7]}}',
    b'{"query": {"pages": [{"title": ["x"]}], "random": [{"title": null}]}}',
    b'{"query": {"pages": [{"title": "x", "extract": {}}], "random": [{}]}}',
    b'{"query": {"pages": [{"title": "Physics"}], "random": [{"title": 1}]}, "parse": {"links": "none"}}',
    b'{"query": {"pages": [{"title": "Physics"}], "random": [{}]}, "parse": {"links": [{"ns": 0, "exists": true}]}}',
]


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: body[:40].decode(errors="replace"))
def test_every_malformed_answer_of_a_mediawiki_is_one_clear_fault(server, body):
    server.body = body
    wiki = MediaWiki(url=f"{server.url}/w/api.php", query_delay_ms=0, max_query_attempts=1)
    with pytest.raises(WikiUnavailable, match="does not answer"):
        wiki.page("Physics")
    with pytest.raises(WikiUnavailable, match="does not answer"):
        wiki.draw(Random(0), 1, 1)


@pytest.mark.parametrize(
    "body",
    [b"<a " * 400_000, b"<!--" * 300_000, b"<h1>x</h1><script>" + b"x " * 500_000, b"<h1>x</h1>" + b" " * (9 << 20)],
    ids=["tags", "comments", "a script", "large"],
)
def test_a_page_that_takes_a_parser_quadratic_time_is_a_fault(server, body):
    server.body = body
    with pytest.raises(WikiUnavailable, match="is not an article of a wiki"):
        Kiwix(url=server.url, zimfile="wiki", query_delay_ms=0, max_query_attempts=1).page("Physics")


def test_a_page_with_thirty_thousand_open_elements_is_read_in_linear_time(server):
    server.body = b"<h1>Deep</h1>" + b"<p>x<table>" * 15_000 + b"</table>" * 15_000 + b"</p>"
    page = Kiwix(url=server.url, zimfile="wiki", query_delay_ms=0, max_query_attempts=1).page("Deep")
    assert (page.title, page.text) == ("Deep", "x")
