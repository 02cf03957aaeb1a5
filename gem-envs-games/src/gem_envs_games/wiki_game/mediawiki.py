"""WikiGame on a server that runs MediaWiki, such as Wikipedia, over its action API."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from gem_envs_games.wiki_game.live import LiveWiki, WikiUnavailable
from gem_envs_games.wiki_game.page import Page

_T = TypeVar("_T")


class MediaWiki(LiveWiki):
    """The articles (pages of namespace 0) of a MediaWiki; see `LiveWiki` for the other arguments.

    A page costs two requests, of the modules that https://www.mediawiki.org/wiki/API:Main_page describes: its
    canonical title and text by `action=query` (`prop=extracts` belongs to the extension TextExtracts; without it there
    is no text), its links by `action=parse`, which says which of them lead to a page that exists.
    """

    def __init__(self, *, url: str = "https://en.wikipedia.org/w/api.php", **settings: Any) -> None:
        super().__init__(url=url, **settings)

    def _fetch(self, title: str) -> tuple[Page, bool] | None:
        about = self._ask(
            _read_about,
            action="query",
            titles=title,
            redirects=1,
            prop="extracts|pageprops",
            exintro=1,
            explaintext=1,
            ppprop="disambiguation",
        )
        if about is None:
            return None
        canonical, text, disambiguates = about
        links = self._ask(_read_links, action="parse", page=canonical, prop="links")
        if links is None:
            return None
        links.pop(canonical, None)
        return Page(canonical, text, tuple(links)), disambiguates

    def _random_title(self) -> str:
        return self._ask(_read_random, action="query", list="random", rnnamespace=0, rnlimit=1)

    def _ask(self, read: Callable[[Any], _T], **query: Any) -> _T:
        """The finding of `read` in the answer; on a malformed answer it may raise any error of lookups and types."""
        answer = self.get(**query, format="json", formatversion=2)
        if answer is None:
            raise WikiUnavailable(f"{self.url} is not there: the url of a MediaWiki ends in api.php")
        try:
            data = json.loads(answer.body)
            if "error" not in data or data["error"]["code"] == "missingtitle":
                return read(data)
            reason = f"{data['error']['code']}: {data['error'].get('info')}"
        except ValueError as error:
            raise WikiUnavailable(
                f"{self.url} does not answer in JSON, as MediaWiki's api.php does: {error}"
            ) from error
        except (LookupError, TypeError, AttributeError, RecursionError) as error:
            raise WikiUnavailable(f"{self.url} does not answer as MediaWiki's api.php does: {error!r}") from error
        raise WikiUnavailable(f"{self.url}: {reason}")


def _read_about(data: Any) -> tuple[str, str, bool] | None:
    """Title, text, and whether it is a disambiguation page; None for a page that does not exist."""
    about = data["query"]["pages"][0]
    if about.get("missing") or about.get("invalid") or "title" not in about:
        return None
    return _text(about["title"]), _text(about.get("extract", "")), "disambiguation" in about.get("pageprops", {})


def _read_links(data: Any) -> dict[str, None] | None:
    """The titles, in order; None for a page that does not exist."""
    if "error" in data:
        return None
    links = data["parse"]["links"]
    return dict.fromkeys(_text(link["title"]) for link in links if link["ns"] == 0 and link.get("exists"))


def _read_random(data: Any) -> str:
    return _text(data["query"]["random"][0]["title"])


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.100} is in the place of a text")
    return value
