"""The protocol of the wikis that WikiGame is played on, and their pages."""

import unicodedata
from collections.abc import Iterable
from random import Random
from typing import NamedTuple, Protocol


class Page(NamedTuple):
    """A page as the player sees it."""

    title: str
    text: str
    """The beginning of the page: a sentence, or a few paragraphs."""
    links: tuple[str, ...]
    """Titles, in the page's order, each once. On a live wiki a title may lead to a page with another title."""


class Wiki(Protocol):
    """The pages on which the game is played."""

    def page(self, title: str) -> Page | None:
        """The page to which this title leads, or None if there is none."""
        ...

    def draw(self, rng: Random, low: int, high: int) -> tuple[Page, Page]:
        """A start, and a target that is `low` to `high` links away."""
        ...

    def nearest(self, titles: Iterable[str], target: str) -> str | None:
        """The first of these titles from which the fewest links lead to `target`; None if that is not known."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


_QUOTES = str.maketrans("_\u2018\u2019\u02bb\u02bc", " ''''")


def key(title: str) -> str:
    """The same key for several ways to write one title.

    Case, underscores for spaces, accents and the shape of apostrophes do not matter: 'sao_paulo' is São Paulo.
    """
    plain = unicodedata.normalize("NFKD", title.translate(_QUOTES))
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split()).casefold()
