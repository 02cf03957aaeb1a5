"""WikiGame on a server that runs MediaWiki, such as Wikipedia, over its action API."""

import json
from typing import Any

from gem_envs_games.wiki_live import LiveWiki, WikiUnavailable
from gem_envs_games.wiki_page import Page


class MediaWiki(LiveWiki):
    """The articles (pages of namespace 0) of a MediaWiki; see `LiveWiki` for the other arguments.

    A page costs two requests, of the modules that https://www.mediawiki.org/wiki/API:Main_page describes: its
    canonical title and text by `action=query` (`prop=extracts` is of the extension TextExtracts; without it there is
    no text), its links by `action=parse`, which says which of them lead to a page that exists.
    """

    def __init__(self, *, url: str = "https://en.wikipedia.org/w/api.php", **settings: Any) -> None:
        super().__init__(url=url, **settings)

    def _fetch(self, title: str) -> tuple[Page, bool] | None:
        about = self._ask(
            action="query",
            titles=title,
            redirects=1,
            prop="extracts|pageprops",
            exintro=1,
            explaintext=1,
            ppprop="disambiguation",
        )["query"]["pages"][0]
        if about.get("missing") or about.get("invalid") or "title" not in about:
            return None
        parsed = self._ask(action="parse", page=about["title"], prop="links")
        if parsed.get("error", {}).get("code") == "missingtitle":
            return None
        links = dict.fromkeys(
            link["title"] for link in parsed["parse"]["links"] if link["ns"] == 0 and link.get("exists")
        )
        links.pop(about["title"], None)
        page = Page(about["title"], about.get("extract", ""), tuple(links))
        return page, "disambiguation" in about.get("pageprops", {})

    def _random_title(self) -> str:
        return self._ask(action="query", list="random", rnnamespace=0, rnlimit=1)["query"]["random"][0]["title"]

    def _ask(self, **query: Any) -> Any:
        answer = self.get(**query, format="json", formatversion=2)
        if answer is None:
            raise WikiUnavailable(f"{self.url} is not there: the url of a MediaWiki ends in api.php")
        try:
            data = json.loads(answer.body)
        except ValueError as error:
            raise WikiUnavailable(
                f"{self.url} does not answer in JSON, as MediaWiki's api.php does: {error}"
            ) from error
        if "error" in data and data["error"].get("code") != "missingtitle":
            raise WikiUnavailable(f"{self.url}: {data['error'].get('code')}: {data['error'].get('info')}")
        return data
