"""The pages and links that ship with the pack. What they are made from is told in data/WIKI.md."""

import gzip
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from random import Random

from gem_envs_games.wiki_game.page import Page

FARTHEST = 6
"""From 1 to so many links, every page of the pack is that far from some other page."""


@cache
def shipped() -> "WikiGraph":
    """The graph of the pack, read once in a process, when it is first asked for."""
    packed = files("gem_envs_games").joinpath("data", "wiki.tsv.gz").read_bytes()
    return WikiGraph(gzip.decompress(packed).decode("utf-8").splitlines())


class WikiGraph:
    """Pages in lines of three fields between tabs: title, text, and the numbers of the lines to which it links."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._fields = [line.split("\t") for line in lines]
        self.titles = [title for title, _, _ in self._fields]
        self._number = {title: number for number, title in enumerate(self.titles)}
        self._rings = lru_cache(maxsize=64)(self._rings_around)

    def page(self, title: str) -> Page | None:
        """The page with exactly this title, or None."""
        number = self._number.get(title)
        return None if number is None else self._page(number)

    def _page(self, number: int) -> Page:
        title, text, links = self._fields[number]
        return Page(title, text, tuple(self.titles[int(link)] for link in links.split()))

    def draw(self, rng: Random, low: int, high: int) -> tuple[Page, Page]:
        """A start, and a target to which the shortest way takes `low` to `high` links, each number as likely.

        Some start must lie so far from every target, as in the graph of the pack for 1 to `FARTHEST`.
        """
        steps = rng.randint(low, high)
        target = rng.randrange(len(self.titles))
        return self._page(rng.choice(sorted(self._rings(target).at(steps)))), self._page(target)

    def nearest(self, titles: Iterable[str], target: str) -> str | None:
        """Of these titles, the first from which the fewest links lead to `target`; None if none leads there."""
        rings = self._rings(self._number[target])
        numbers = [self._number[title] for title in titles]
        steps = 0
        while ring := rings.at(steps):
            for number in numbers:
                if number in ring:
                    return self.titles[number]
            steps += 1
        return None

    def _rings_around(self, target: int) -> "Rings":
        return Rings(self._back, target)

    @cached_property
    def _back(self) -> list[list[int]]:
        """For each page, the pages that link to it."""
        back: list[list[int]] = [[] for _ in self.titles]
        for number, (_, _, links) in enumerate(self._fields):
            for link in links.split():
                back[int(link)].append(number)
        return back


class Rings:
    """The pages around a target by their distance to it, searched breadth first as far as they are asked for."""

    def __init__(self, back: list[list[int]], target: int) -> None:
        self._back = back
        self._found = [{target}]
        self._seen = {target}

    def at(self, steps: int) -> set[int]:
        """The pages from which the shortest way to the target takes just so many links."""
        while len(self._found) <= steps:
            ring = set[int]().union(*(self._back[number] for number in self._found[-1])) - self._seen
            self._seen |= ring
            self._found.append(ring)
        return self._found[steps]
