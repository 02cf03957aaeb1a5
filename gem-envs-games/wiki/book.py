"""Pages under construction: what each is about, and which others it links to."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

MOST_LINKS = 48
"""The most links of a page: a page must fit into a prompt."""


@dataclass(eq=False)
class Page:
    """A page. `label` is put after the title if another page has the same title."""

    title: str
    label: str
    summary: str
    section: str
    rank: int
    """Of several pages with the same title, the one with the lowest rank has no label."""
    links: dict["Page", None] = field(default_factory=dict, repr=False)

    def link(self, others: Iterable["Page | None"]) -> None:
        """Add links, the first ones first, up to the limit."""
        for other in others:
            if other is not None and other is not self and len(self.links) < MOST_LINKS:
                self.links.setdefault(other)


class Book:
    """All pages, by the keys of what they were made from."""

    def __init__(self) -> None:
        self.pages: dict[Hashable, Page] = {}

    def add(self, key: Hashable, title: str, label: str, summary: str, section: str, rank: int = 0) -> Page:
        """A new page, or the existing one of this key."""
        title = title[0].upper() + title[1:]
        return self.pages.setdefault(key, Page(title, label, summary, section, rank))

    def also(self, key: Hashable, page: Page) -> None:
        """Give `page` another key."""
        self.pages.setdefault(key, page)

    def get(self, key: Hashable) -> Page | None:
        return self.pages.get(key)

    def all(self) -> list[Page]:
        """Each page once, in the order in which they were made."""
        return list(dict.fromkeys(self.pages.values()))
