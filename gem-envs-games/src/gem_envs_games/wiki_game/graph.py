"""The pages and links that ship with the pack; data/WIKI.md says what they are made from."""

import gzip
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from random import Random

from gem_envs_games.wiki_game.page import Page

FARTHEST = 6
"""The farthest distance such that for each from 1 on, every page is that many links from some other page."""


@cache
def shipped() -> "WikiGraph":
    """The graph of the pack, read once per process, at the first call."""
    packed = files("gem_envs_games").joinpath("data", "wiki.tsv.gz").read_bytes()
    return WikiGraph(gzip.decompress(packed).decode("utf-8").splitlines())


class WikiGraph:
    """Pages, given as lines of three fields separated by tabs: title, text, and the numbers of the linked lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._fields = [line.split("\t") for line in lines]
        self.titles = [title for title, _, _ in self._fields]
        self._number = {title: number for number, title in enumerate(self.titles)}
        self._layers = lru_cache(maxsize=64)(self._layers_of)

    def page(self, title: str) -> Page | None:
        """The page with exactly this title, or None."""
        number = self._number.get(title)
        return None if number is None else self._page(number)

    def _page(self, number: int) -> Page:
        title, text, links = self._fields[number]
        return Page(title, text, tuple(self.titles[int(link)] for link in links.split()))

    def draw(self, rng: Random, low: int, high: int) -> tuple[Page, Page]:
        """A start and a target whose shortest path has `low` to `high` links, each number equally likely.

        Every target must have a start at each of these distances, as in the graph of the pack from 1 to `FARTHEST`.
        """
        steps = rng.randint(low, high)
        target = rng.randrange(len(self.titles))
        return self._page(rng.choice(sorted(self._layers(target).at(steps)))), self._page(target)

    def nearest(self, titles: Iterable[str], target: str) -> str | None:
        """The first of these titles from which the fewest links lead to `target`; None if no path leads there."""
        layers = self._layers(self._number[target])
        numbers = [self._number[title] for title in titles]
        steps = 0
        while layer := layers.at(steps):
            for number in numbers:
                if number in layer:
                    return self.titles[number]
            steps += 1
        return None

    def close(self) -> None:
        """Keep the pages open: all envs share them."""

    def _layers_of(self, target: int) -> "Layers":
        return Layers(self._back, target)

    @cached_property
    def _back(self) -> list[list[int]]:
        """The pages that link to each page."""
        back: list[list[int]] = [[] for _ in self.titles]
        for number, (_, _, links) in enumerate(self._fields):
            for link in links.split():
                back[int(link)].append(number)
        return back


class Layers:
    """The layers of a breadth-first search backwards from a target, made as far as they are needed."""

    def __init__(self, back: list[list[int]], target: int) -> None:
        self._back = back
        self._found = [{target}]
        self._seen = {target}

    def at(self, steps: int) -> set[int]:
        """The pages whose shortest path to the target has exactly this many links."""
        while len(self._found) <= steps:
            layer = set[int]().union(*(self._back[number] for number in self._found[-1])) - self._seen
            self._seen |= layer
            self._found.append(layer)
        return self._found[steps]
