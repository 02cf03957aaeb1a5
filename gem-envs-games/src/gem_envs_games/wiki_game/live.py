"""The base of live wikis: requests with limits and retries, and start and target from a random walk."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from http import HTTPStatus
from random import Random
from typing import Any

from gem.checks import check_int
from gem.errors import Fault, Unreachable
from gem.http.answers import Answer, NoAnswer, NotConnected
from gem.http.client import HttpClient
from gem_envs_games.wiki_game.page import Page

_AGENT = "gem-envs-games WikiGame (https://pypi.org/project/gem-envs-games/)"
"""Wikimedia asks clients to identify themselves."""

_TRIES = 20
"""The most pages that are looked at to find a suitable one."""


class WikiUnavailable(Fault, ConnectionError):
    """The wiki does not answer, or not as its API should."""


class WikiUnreachable(WikiUnavailable, Unreachable):
    """There is no wiki at that address: other episodes will fail as this one did."""


class LiveWiki(ABC):
    """A wiki on a server.

    Args:
        url: of its API, http or https.
        query_delay_ms: milliseconds to wait before each answer is asked for, to spare the server.
        max_query_attempts: the most requests for one answer if the server cannot be reached or is overloaded.
        query_use_cache: keep the pages of an episode.
        timeout: seconds that a whole answer may take.
    """

    def __init__(
        self,
        *,
        url: str,
        query_delay_ms: int = 25,
        max_query_attempts: int = 5,
        query_use_cache: bool = False,
        timeout: float = 10.0,
    ) -> None:
        self.url = url
        self._delay = check_int("query_delay_ms", query_delay_ms, 0) / 1000
        retries = check_int("max_query_attempts", max_query_attempts, 1) - 1
        self._http = HttpClient(url, timeout=timeout, retries=retries, headers={"User-Agent": _AGENT}, redirects=True)
        self._kept: dict[str, Page | None] | None = {} if query_use_cache else None

    @abstractmethod
    def _fetch(self, title: str) -> tuple[Page, bool] | None:
        """The page to which a title leads, and whether it is a disambiguation page; None if there is no page."""

    @abstractmethod
    def _random_title(self) -> str:
        """A random title, drawn by the server."""

    def page(self, title: str) -> Page | None:
        """The page to which this title leads, or None if there is none.

        A disambiguation page is not an article: the first article that it links to takes its place.

        Raises:
            WikiUnavailable: the server does not answer, or not as its API should.
        """
        if self._kept is None:
            return self._article(title)
        if title not in self._kept:
            self._kept[title] = self._article(title)
        return self._kept[title]

    def _article(self, title: str) -> Page | None:
        found = self._fetch(title)
        if found is None:
            return None
        page, disambiguates = found
        if not disambiguates:
            return page
        articles = (self._fetch(link) for link in page.links[:_TRIES])
        return next((article[0] for article in articles if article is not None and not article[1]), None)

    def draw(self, rng: Random, low: int, high: int) -> tuple[Page, Page]:
        """A random page, drawn by the server, and the end of a random walk of `low` to `high` links from it.

        So a path exists; the shortest one may be shorter than the walk.
        """
        if self._kept is not None:
            self._kept.clear()
        steps = rng.randint(low, high)
        for _ in range(_TRIES):
            start = self.page(self._random_title())
            end = start and self._walk(start, steps, rng)
            if start and end:
                return start, end
        raise WikiUnavailable(f"{self.url}: none of {_TRIES} random pages begins a walk of {steps} links")

    def _walk(self, start: Page, steps: int, rng: Random) -> Page | None:
        """The end of a random walk that meets no page twice, or None if it ends before."""
        here, seen = start, {start.title}
        for _ in range(steps):
            for link in rng.sample(here.links, min(len(here.links), _TRIES)):
                there = self.page(link)
                if there is not None and there.title not in seen:
                    break
            else:
                return None
            here = there
            seen.add(here.title)
        return here

    def nearest(self, titles: Iterable[str], target: str) -> str | None:
        """None: the distances between pages of a live wiki are not known."""
        return None

    def get(self, path: str = "", **query: Any) -> Answer | None:
        """Send a request; None if the answer is 404.

        Raises:
            WikiUnavailable: the server cannot be reached, is too slow, or answers with an error.
        """
        time.sleep(self._delay)
        kind = WikiUnavailable
        try:
            answer = self._http.call("GET", path, query=query)
            if answer.status == HTTPStatus.OK:
                return answer
            if answer.status == HTTPStatus.NOT_FOUND:
                return None
            reason = f"it answers {answer}"
        except NoAnswer as error:
            kind, reason = WikiUnreachable if isinstance(error, NotConnected) else kind, str(error)
        raise kind(
            f"{self.url}{path}: {reason}. Check that the server runs and that trawler_kwargs has its url, or play on "
            "backend='shipped', which needs none."
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
