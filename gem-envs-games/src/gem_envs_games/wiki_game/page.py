"""What WikiGame needs of a wiki: pages, a pair to start with, and, where the wiki knows it, the nearest link."""

import unicodedata
from collections.abc import Iterable
from random import Random
from typing import NamedTuple, Protocol


class Page(NamedTuple):
    """A page as the player sees it."""

    title: str
    text: str
    """What the page says first: a sentence, or a few paragraphs."""
    links: tuple[str, ...]
    """Titles, in the page's order, each once. A live wiki may lead from one title to a page with another."""


class Wiki(Protocol):
    """The pages on which the game is played."""

    def page(self, title: str) -> Page | None:
        """The page to which this title leads, or None where there is none."""
        ...

    def draw(self, rng: Random, low: int, high: int) -> tuple[Page, Page]:
        """A start, and another page that lies `low` to `high` links from it."""
        ...

    def nearest(self, titles: Iterable[str], target: str) -> str | None:
        """Of these titles, the first from which the fewest links lead to `target`; None where that is not known."""
        ...


_QUOTES = str.maketrans("_\u2018\u2019\u02bb\u02bc", " ''''")


def key(title: str) -> str:
    """What several ways to write one title have in common.

    Case, underscores for spaces, accents and the shape of apostrophes do not matter: 'sao_paulo' is São Paulo.
    """
    plain = unicodedata.normalize("NFKD", title.translate(_QUOTES))
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split()).casefold()
