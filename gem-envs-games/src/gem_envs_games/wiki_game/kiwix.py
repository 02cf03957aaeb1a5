"""WikiGame on a server that runs kiwix-serve with a ZIM file of a Wikipedia."""

from collections import Counter
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from gem_envs_games.wiki_game.live import LiveWiki, WikiUnavailable
from gem_envs_games.wiki_game.page import Page

_MOST_REDIRECTS = 5
_LARGEST = 8 << 20
"""Bytes of an article; the longest have a few MB."""
_PIECE = 1 << 14
_LONGEST_TAG = 1 << 17
"""Characters that the parser reads at once, and that it may keep because a tag or a script has not ended."""
_NO_TEXT = {"style", "script", "table", "sup", "figure"}


class Kiwix(LiveWiki):
    """The articles of a ZIM file behind kiwix-serve; see `LiveWiki` for the other arguments.

    Pages are read from `/raw/ZIMFILE/content/TITLE` and drawn by `/random?content=ZIMFILE`, the endpoints that
    https://kiwix-tools.readthedocs.io/en/latest/kiwix-serve.html describes.

    Args:
        url: of the server.
        zimfile: the name of the ZIM file, without `.zim`.
    """

    def __init__(
        self,
        *,
        url: str = "http://localhost:8080",
        zimfile: str = "wikipedia_en_simple_all_nopic_2025-09",
        **settings: Any,
    ) -> None:
        super().__init__(url=url.rstrip("/"), **settings)
        self._zimfile = zimfile
        self._root = f"/raw/{quote(zimfile)}/content/"

    def _fetch(self, title: str) -> tuple[Page, bool] | None:
        for _ in range(_MOST_REDIRECTS):
            answer = self.get(self._root + quote(title.replace(" ", "_"), safe="/"))
            if answer is None:
                return None
            if len(answer.body) > _LARGEST:
                raise WikiUnavailable(f"{answer.url} is not an article of a wiki: it has {len(answer.body)} bytes")
            article = _Article()
            if not article.read(answer.body.decode("utf-8", errors="replace")):
                raise WikiUnavailable(f"{answer.url} is not an article of a wiki: a tag in it does not end")
            if article.leads_to is None:
                return self._page(answer.url, article)
            moved = self._title(urljoin(answer.url, article.leads_to))
            if moved is None:
                return None
            title = moved
        return None

    def _page(self, url: str, article: "_Article") -> tuple[Page, bool]:
        title = " ".join("".join(article.headings).split()) or self._title(url)
        if not title:
            raise WikiUnavailable(f"{url} is not an article of a wiki: it has no heading")
        found = (self._title(urljoin(url, href)) for href in article.hrefs)
        links = dict.fromkeys(link for link in found if link is not None and link != title)
        text = " ".join("".join(article.texts).split())
        disambiguates = "may refer to:" in text or "(disambiguation)" in title
        return Page(title, text, tuple(links)), disambiguates

    def _title(self, url: str) -> str | None:
        """The title of an article's address; None for an address that is not an article of the file."""
        path = urlsplit(url).path
        _, found, rest = path.partition(f"/{quote(self._zimfile)}/")
        name = unquote(rest.removeprefix("content/").removeprefix("A/"))
        # Pictures, styles and scripts are in folders whose names begin so.
        if not found or not url.startswith(self.url) or not name or name.startswith(("_", "-/", "I/")):
            return None
        return name.replace("_", " ")

    def _random_title(self) -> str:
        answer = self.get("/random", content=self._zimfile)
        title = answer and self._title(answer.url)
        if not title:
            raise WikiUnavailable(f"{self.url} has no random page of {self._zimfile!r}: is that the name of its file?")
        return title


class _Article(HTMLParser):
    """The heading, the links and the paragraphs of an article as MediaWiki renders it."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.hrefs: list[str] = []
        self.leads_to: str | None = None
        """The target of a redirect by `<meta http-equiv="refresh">`."""
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        """Tag → how many elements of it are open."""
        self._headed = False

    def read(self, html: str) -> bool:
        """Read an article; False if it has a tag that does not end.

        In pieces, and what is left at the end is not read: the parser starts again and again at a tag that is not
        closed, which takes quadratic time."""
        for start in range(0, len(html), _PIECE):
            self.feed(html[start : start + _PIECE])
            if len(self.rawdata) > _LONGEST_TAG:
                return False
        return True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and (href := values.get("href")) and not href.startswith("#"):
            self.hrefs.append(href)
        elif tag == "meta" and (values.get("http-equiv") or "").lower() == "refresh":
            _, _, target = (values.get("content") or "").partition("=")
            self.leads_to = target.strip(" '\"") or None
        elif tag in _NO_TEXT or tag in ("h1", "p"):
            self._open.append(tag)
            self._counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        while self._counts[tag]:
            ended = self._open.pop()
            self._counts[ended] -= 1
            if ended == tag:
                break
        if tag == "p":
            self.texts.append("\n")
        self._headed = self._headed or tag == "h1"

    def handle_data(self, data: str) -> None:
        if any(self._counts[tag] for tag in _NO_TEXT):
            return
        if self._counts["h1"]:
            self.headings += () if self._headed else (data,)
        elif self._counts["p"]:
            self.texts.append(data)
