"""The tools `search` and `fetch` around an env, and the wrappers with gem-llm's names."""

import pytest
from scripted_server import answering

import gem
from gem.packs.lookup import find_tools
from gem_tools.search.corpus import Corpus, Document
from gem_tools.search.dense import Dense
from gem_tools.search.server import serving
from gem_tools.search.shared import shared_index
from gem_tools.search.tool import fetch_tool, search_tool


@pytest.fixture(autouse=True)
def _without_a_server(monkeypatch):
    monkeypatch.delenv("SEARCH_URL", raising=False)


def test_search_shows_the_best_documents_as_gem_llm_does():
    hits = shared_index().search(["Dunholt"], 3)[0]

    assert search_tool()(query="Dunholt") == "\n".join(
        f"Doc {number}(Title: {hit.document.title}) {hit.document.text}" for number, hit in enumerate(hits, 1)
    )
    assert search_tool(topk=1)(query="Dunholt").startswith("Doc 1(Title: Dunholt) Dunholt is a")


def test_a_query_without_hits_is_answered():
    assert search_tool()(query="zebra") == "No document matches this query. Try other words."


@pytest.mark.parametrize("query", ["\ud800 Dunholt", "Dunholt \x00", "Dunholt " * 100_000])
def test_odd_queries_are_searched_for(query):
    assert "Dunholt" in search_tool()(query=query)
    with serving(shared_index()) as url:
        assert search_tool(url)(query=query) == search_tool()(query=query)


def test_search_uses_a_file_a_server_or_any_retriever(tmp_path):
    file = tmp_path / "trees.jsonl"
    file.write_text('{"title": "Elm", "text": "A tree."}', "utf-8")
    vectors = Dense(Corpus([Document("1", "Elm", "A tree.")]), lambda texts: [[1.0]] * len(texts))
    with serving(vectors) as url:
        tools = [search_tool(each) for each in (file, str(file), vectors, url)]
        tools.append(search_tool(url, protocol="gem-llm"))

        assert {tool(query="tree") for tool in tools} == {"Doc 1(Title: Elm) A tree."}


def test_the_variable_search_url_names_a_server_with_gem_llms_protocol(monkeypatch):
    asked = []

    def answer(request):
        asked.append(request.body)
        return 200, b"\x81\xa6result\x90"

    with answering(answer) as url:
        monkeypatch.setenv("SEARCH_URL", f"{url}/retrieve")
        assert search_tool()(query="x").startswith("No document")
    assert asked == [b"\x83\xa5query\xa1x\xa4topk\x03\xadreturn_scores\xc3"]


def test_equal_settings_are_the_same_tool_so_that_its_limits_and_its_cache_are_shared():
    assert search_tool() is search_tool() is find_tools("search")[0]
    assert search_tool(topk=2) is find_tools("search", topk=2)[0] is not search_tool()
    assert fetch_tool() is find_tools("fetch")[0]


def test_fetch_gives_a_document_by_its_title_or_id():
    document = Corpus.shipped().find("Dunholt")

    for name in ("Dunholt", " dunholt\n", '"Dunholt"', document.id):
        assert fetch_tool()(title=name) == f"Dunholt\n{document.text}"


@pytest.mark.parametrize(("name", "reward"), [("search_tool", 0.3), ("search_tool_no_int_reward", 0.0)])
def test_wrappers_with_gem_llms_names_give_five_searches_and_its_rewards(name, reward):
    env = gem.make("tools:MultiHop-v0", wrappers=[name])
    observation, _ = env.reset(seed=0)
    assert "<search>" in observation
    assert "5 calls" in observation
    for _ in range(5):
        step = env.step("I look it up. <search> Dunholt </search>")
        assert (step.reward, step.done) == (reward, False)
        assert "Doc 1(Title: Dunholt)" in step.observation
    step = env.step("<search>Dunholt</search>")
    assert (step.reward, step.done) == (0, False)
    assert "used up" in step.observation
    step = env.step(env.expert_action())
    assert (step.reward, step.info["success"]) == (1, True)
