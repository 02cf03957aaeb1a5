"""Reads the nouns of WordNet's database, in the format of its manual page wndb(5WN)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FILES = """
    Tops act animal artifact attribute body cognition communication event feeling food group location motive object
    person phenomenon plant possession process quantity relation shape state substance time
""".split()  # noqa: SIM905
"""The lexicographer files of nouns, from number 3 on."""


LONGEST_SUMMARY = 150
"""The approximate number of characters of a summary."""


@dataclass(eq=False)
class Synset:
    """A meaning: the words that have it, and its relations to others."""

    file: str
    words: list[str]
    gloss: str
    pointers: dict[str, list["Synset"]] = field(default_factory=lambda: defaultdict(list), repr=False)
    """By wndb's symbols: @ and @i to what it is a kind or an instance of, ~ and ~i back, %p to its parts, …"""

    @property
    def kinds(self) -> list["Synset"]:
        return self.pointers["@"] + self.pointers["@i"]

    @property
    def is_name(self) -> bool:
        return bool(self.pointers["@i"])

    @property
    def definition(self) -> str:
        """The gloss without examples."""
        return self.gloss.split('; "')[0].strip()

    @property
    def summary(self) -> str:
        """The definition, cut after a clause if it is long; years of birth and death at its end are kept."""
        text = re.sub(r"^\([^)]*\) ", "", re.sub(r"\s+", " ", self.definition).rstrip(" ;:."))
        years = re.search(r" \([^()]*[0-9]{2}[^()]*\)$", text)
        if len(text) > LONGEST_SUMMARY:
            kept = text[:LONGEST_SUMMARY]
            cut = max(kept.rfind(mark) for mark in ("; ", ", ", " ("))
            text = kept[: cut if cut > 60 else kept.rfind(" ")].rstrip(" ;,(")
            if text.count("(") > text.count(")"):
                text = text[: text.rfind("(")].rstrip()
            text += years[0] if years else ""
        return text[0].upper() + text[1:]

    def ancestors(self) -> Iterator["Synset"]:
        """All kinds above, the nearest first."""
        seen, level = {self}, [self]
        while level:
            above = [kind for synset in level for kind in synset.kinds if kind not in seen]
            level = list(dict.fromkeys(above))
            seen.update(level)
            yield from level

    def descendants(self) -> Iterator["Synset"]:
        """All kinds and instances below, the nearest first."""
        seen, level = {self}, [self]
        while level:
            level = [low for synset in level for low in synset.pointers["~"] + synset.pointers["~i"] if low not in seen]
            level = list(dict.fromkeys(level))
            seen.update(level)
            yield from level


class WordNet:
    """The nouns: `senses[word]`, the most frequent one first, and the nouns that adjectives such as 'French' are of."""

    def __init__(self, folder: Path) -> None:
        raw: dict[str, list[str]] = {}
        synsets: dict[str, Synset] = {}
        for line in _records(folder / "data.noun"):
            data, gloss = line.split(" | ", 1)
            fields = data.split()
            count = int(fields[3], 16)
            words = [word.replace("_", " ") for word in fields[4 : 4 + 2 * count : 2]]
            raw[fields[0]] = fields[4 + 2 * count :]
            synsets[fields[0]] = Synset(FILES[int(fields[1]) - 3], words, gloss.strip())
        for offset, fields in raw.items():
            for symbol, target, part in zip(fields[1::4], fields[2::4], fields[3::4], strict=True):
                if part == "n":
                    synsets[offset].pointers[symbol].append(synsets[target])
        self.senses: dict[str, list[Synset]] = {}
        for line in _records(folder / "index.noun"):
            fields = line.split()
            self.senses[fields[0].replace("_", " ")] = [synsets[offset] for offset in fields[-int(fields[2]) :]]
        self.of_adjective = self._pertainyms(folder / "data.adj", synsets)

    @staticmethod
    def _pertainyms(path: Path, synsets: dict[str, Synset]) -> dict[str, Synset]:
        found: dict[str, Synset] = {}
        for line in _records(path):
            fields = line.split(" | ", 1)[0].split()
            count = int(fields[3], 16)
            pointers = fields[5 + 2 * count :]
            for symbol, target, part in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False):
                if symbol == "\\" and part == "n" and fields[4][0].isupper():
                    found.setdefault(fields[4].split("(")[0].replace("_", " "), synsets[target])
        return found

    def first(self, word: str, file: str | None = None) -> Synset:
        """The most frequent meaning of `word`, or the most frequent of one lexicographer file."""
        return next(s for s in self.senses[word.lower()] if file is None or s.file == file)


def _records(path: Path) -> Iterator[str]:
    with path.open(encoding="latin-1") as lines:
        # The licence comes before the data, on lines that begin with a space.
        yield from (line for line in lines if not line.startswith(" "))
