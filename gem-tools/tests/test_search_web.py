"""SerpAPI, imitated by a local server."""

import json
from urllib.parse import urlsplit

import pytest
from scripted_server import answering

from gem.http.answers import NoAnswer
from gem_tools.search.corpus import Document
from gem_tools.search.retriever import Hit
from gem_tools.search.web import SerpApi

KEY = "a-secret-key"
FOUND = [
    {"position": 1, "title": "Tea", "link": "https://example.org/tea", "snippet": "A drink."},
    {"position": 2, "title": "Cup", "link": "https://example.org/cup"},
    {"position": 3, "title": "Pot", "link": "https://example.org/pot", "snippet": "For tea."},
]
HITS = [
    Hit(Document("https://example.org/tea", "Tea", "A drink."), None),
    Hit(Document("https://example.org/cup", "Cup", ""), None),
]


class Web:
    """Answers as the service does, and remembers what it was asked."""

    def __init__(self, status=200, **answer):
        self.requested = []
        self.status, self.answer = status, json.dumps(answer).encode()

    def __call__(self, asked):
        self.requested.append(asked)
        return self.status, self.answer


def test_serpapi_is_asked_as_documented_and_its_organic_results_are_the_hits():
    web = Web(search_metadata={"status": "Success"}, organic_results=FOUND)
    with answering(web) as url:
        hits = SerpApi(KEY, engine="bing", url=f"{url}/search").search(["tea & cups?"], 2)

    (asked,) = web.requested
    assert (asked.method, asked.path) == ("GET", "/search")
    assert asked.query == {"api_key": KEY, "engine": "bing", "output": "json", "q": "tea & cups?", "num": "2"}
    assert hits == [HITS]


def test_several_queries_keep_their_order():
    def answer(asked):
        return 200, json.dumps({"organic_results": [{"title": asked.query["q"], "link": asked.query["q"]}]}).encode()

    with answering(answer) as url:
        hits = SerpApi(KEY, url=url).search([str(number) for number in range(20)], 1)

    assert [found[0].document.title for found in hits] == [str(number) for number in range(20)]


def test_an_empty_result_is_not_a_fault():
    with answering(Web(error="Google hasn't returned any results for this query.")) as url:
        assert SerpApi(KEY, url=url).search(["x"], 3) == [[]]
    with answering(Web(search_metadata={"status": "Success"})) as url:
        assert SerpApi(KEY, url=url).search(["x"], 3) == [[]]


@pytest.mark.parametrize(
    ("web", "why"),
    [
        (Web(401, error="Invalid API key."), "answers 401.*Invalid API key"),
        (Web(403, error={"code": 403, "message": "Quota exceeded"}), "answers 403.*Quota exceeded"),
        (Web(500), "answers 500"),
        (Web(error="Your account has run out of searches."), "run out of searches"),
        (Web(organic_results=[{"no": "title"}]), "something else"),
    ],
)
def test_a_service_that_refuses_is_a_clear_fault(web, why):
    with answering(web) as url, pytest.raises(NoAnswer, match=why):
        SerpApi(KEY, url=url, retries=0).search(["x"], 3)


def test_messages_do_not_contain_the_key():
    with answering(Web(500)) as url:
        pass
    with pytest.raises(NoAnswer) as caught:
        SerpApi(KEY, url=url, retries=1).search(["x"], 3)
    error = caught.value
    while error is not None:
        assert KEY not in str(error)
        error = error.__cause__
    assert urlsplit(url).netloc in str(caught.value)


def test_keys_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("SERPAPI_API_KEY", KEY)
    web = Web(organic_results=[])
    with answering(web) as url:
        SerpApi(url=url).search(["x"], 1)
    assert web.requested[0].query["api_key"] == KEY
