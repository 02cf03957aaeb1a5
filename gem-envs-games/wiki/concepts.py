"""Pages of things, names and ideas: those that topics.txt lists, as WordNet defines and relates them."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path

from book import Book, Page
from wordnet import Synset, WordNet

ALIKE, FEW = 4, 9
"""Places between pages of one kind that are linked as alike, while they have fewer links than this."""

FEWEST_OF_A_KIND, SPECIFIC = 3, 4
"""Pages below a kind, and kinds above it, from which on it has a page of its own."""

WRONG = {("Trojan War", "Paris")}
"""Pages, and what their definitions do not mention although it looks so: this Paris is a prince."""

UNWANTED = {"person of color", "Black music", "wit", "good person", "covering", "section", "status", "representative"}
"""Kinds that get no page."""

MENTIONED_BY = 36
"""The number of links from which a page gets no more links back to pages that mention it."""

RELATED = ("#p", "#s", "#m", "%p", "%s", "%m", ";c", ";r", "-c", "-r", "+")
"""WordNet's pointers to wholes, parts, fields of knowledge, regions and nouns of one root."""

ADJECTIVES = {
    "American": "united states",
    "Czech": "czech republic",
    "British": "united kingdom",
    "Chinese": "china",
    "Arabian": "arabian peninsula",
}
NEVER_MENTIONED = set(
    """
    acid act activity animal area arm atlas back ball bank bark bass bat bear bit black blue board body bow bowl
    box bridge brown building button can cap carrier cell chair change chest child chin city cloud coat color
    columbus company condition content country covering crane crown culture cup cut date degree desk device
    dragon drill drink ear earth engine envy eye face fall family fan fear feather figure fire fit fly foot fork
    fuse game gas general giant go gray green ground group hand head hope horn industry iris jackson jet joy key
    kind king kite knee language lead leg light like lime line lip liquid lock long love machine manchester
    march mass match material matter may metal million mine minute mole mouse mouth nail name neck needle nice
    nose number nut object official orange order organ page palm pan part passage perch person phoenix pike pink
    plant plate play player point poker pound present pride produce pupil purple ray red region rib ring road
    ruler salt saw school seal second set shame shell shoulder society sole solid sound space spine spring
    square star state still structure substance table tail tear theory throat tick time toe tongue top unit
    value wall wave well white will wing world yard yellow
    """.split()  # noqa: SIM905
)
NEVER_MENTIONED.add("republic of china")  # the end of the name of the People's Republic of China
"""Words with too many meanings in definitions to be links."""


class Concepts:
    """Adds the pages to a book that has the geography."""

    def __init__(self, book: Book, wordnet: WordNet, topics: Path) -> None:
        self.book, self.wordnet = book, wordnet
        self.synsets: dict[Page, Synset] = {}
        self.lines: list[list[Page]] = []
        for line in topics.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                self._line(*re.fullmatch(r"(.+?)(?: \[(.+)\])?: (.+)", line).groups())  # type: ignore[union-attr]
        self._add_kinds()
        for key, page in list(book.pages.items()):
            if isinstance(key, Synset):
                self.synsets.setdefault(page, key)

    def _line(self, above: str, label: str | None, words: str) -> None:
        roots = self.wordnet.senses[above.lower()]
        below = set(chain(roots, *(root.descendants() for root in roots)))
        section = label or above
        if words == "*":
            names = [low for root in roots for low in root.descendants() if low.is_name]
            found = [(_best_name(synset, above), synset) for synset in names]
        else:
            found = []
            for entry in words.split(", "):
                title, _, word = entry.rpartition("=")
                synset = next((s for s in self.wordnet.senses.get(word.lower(), []) if s in below), None)
                if synset is None:
                    print(f"no {word!r} below {above!r}")
                else:
                    found.append((title or word, synset))
        pages = [
            self.book.add(synset, word, section, synset.summary, section, self._rank(synset)) for word, synset in found
        ]
        if words != "*":
            self.lines.append(pages)

    def _rank(self, synset: Synset) -> int:
        """How many meanings its first word has that are more frequent; countries and states come before all of them."""
        return 1 + self.wordnet.senses[synset.words[0].lower()].index(synset)

    def _add_kinds(self) -> None:
        """Pages of the kinds under which several pages meet, such as 'Optical instrument'."""
        below: dict[Synset, set[Synset]] = {}
        for synset in [key for key in self.book.pages if isinstance(key, Synset)]:
            for above in synset.ancestors():
                below.setdefault(above, set()).add(synset)
        for kind, members in below.items():
            branches = [low for low in kind.pointers["~"] + kind.pointers["~i"] if low in members or low in below]
            if (
                kind.words[0] not in UNWANTED
                and len(members) >= FEWEST_OF_A_KIND
                and len(branches) > 1
                and len(list(kind.ancestors())) >= SPECIFIC
            ):
                self.book.add(kind, kind.words[0], "kind", kind.summary, "kind", self._rank(kind))

    def link(self) -> None:
        """Link all pages that WordNet knows: kinds, parts, what the definition mentions, examples, and back."""
        mentions = Mentions(self.book, self.wordnet, self.synsets)
        for page, synset in self.synsets.items():
            page.link(self._nearest(synset, "@", "@i"))
            page.link(self.book.get(other) for symbol in RELATED for other in synset.pointers[symbol])
            if page.section not in ("country", "city", "continent"):
                page.link(other for other in mentions.of(synset.definition) if (page.title, other.title) not in WRONG)
        for page, synset in self.synsets.items():
            page.link(self._nearest(synset, "~", "~i"))
        for page in self.book.all():
            if page.section in ("currency", "language"):
                page.link([self.book.get(self.wordnet.first(page.section))])
        for line in self.lines:
            self._link_alike(line)
        for page, synset in self.synsets.items():
            if len(page.links) < FEW and not synset.is_name:
                above = [self.synsets[kind] for kind in self._nearest(synset, "@") if kind in self.synsets]
                page.link(chain.from_iterable(self._nearest(kind, "@") for kind in above))
        self._link_back()

    def _link_alike(self, line: list[Page]) -> None:
        """Link pages of one kind that are near each other in a line of topics.txt and have few links."""
        kinds = [set(self._nearest(self.synsets[page], "@", "@i")) if page in self.synsets else set() for page in line]
        for away in range(1, ALIKE + 1):
            for at in range(len(line) - away):
                one, other = line[at], line[at + away]
                if not kinds[at].isdisjoint(kinds[at + away]):
                    one.link([other] if len(one.links) < FEW else [])
                    other.link([one] if len(other.links) < FEW else [])

    def _nearest(self, synset: Synset, *symbols: str) -> Iterator[Page]:
        """The nearest pages up or down the kinds."""
        level, seen = [synset], {synset}
        while level:
            following: list[Synset] = []
            for other in chain.from_iterable(low.pointers[symbol] for low in level for symbol in symbols):
                page = self.book.get(other)
                if page is not None:
                    yield page
                elif other not in seen:
                    following.append(other)
                seen.add(other)
            level = following

    def _link_back(self) -> None:
        by: dict[Page, dict[str, list[Page]]] = {}
        for page in self.book.all():
            for other in page.links:
                if page not in other.links:
                    by.setdefault(other, {}).setdefault(page.section, []).append(page)
        for page, sections in by.items():
            # One of each section in turn, so that a country does not link to rivers alone.
            for other in chain.from_iterable(zip_longest(*sections.values())):
                if len(page.links) < MENTIONED_BY:
                    page.link([other])


class Mentions:
    """Finds the pages that a definition names."""

    def __init__(self, book: Book, wordnet: WordNet, synsets: dict[Page, Synset]) -> None:
        self.forms: dict[str, Page] = {}
        for page, synset in synsets.items():
            for word in synset.words:
                # A word counts as this page if this is its most frequent meaning. Synonyms and short forms of
                # common nouns ("net" for the internet) have too many other uses.
                plain = word.lower()
                clear = word[0].isupper() or plain == page.title.lower()
                if clear and len(word) > 2 and wordnet.senses[plain][0] is synset and plain not in NEVER_MENTIONED:
                    self.forms.setdefault(word, page)
        for page in book.all():
            if page.section in ("country", "city", "continent", "region"):
                self.forms.setdefault(page.title, page)
        # New York, Washington and Georgia are more often the states in WordNet's definitions.
        self.forms |= {page.title: page for page in book.all() if page.section == "state"}
        for adjective, noun in wordnet.of_adjective.items():
            page = book.get(noun)
            if page:
                self.forms[adjective] = page
        for adjective, name in ADJECTIVES.items():
            page = book.get(wordnet.first(name))
            if page:
                self.forms[adjective] = page

    def of(self, definition: str) -> Iterable[Page]:
        """The pages, in the order in which they are named; the longest names first at each place."""
        words = re.findall(r"[\w'-]+(?:\.(?=\s?[A-Z]))?", definition)
        at = 0
        while at < len(words):
            step = 1
            for length in range(min(4, len(words) - at), 0, -1):
                page = self._page(" ".join(words[at : at + length]))
                if page is not None:
                    yield page
                    step = length
                    break
            at += step

    def _page(self, text: str) -> Page | None:
        for form in (text, text.removesuffix("s"), re.sub("(?<=[shxo])es$", "", text), text.removesuffix("'s")):
            if form in self.forms:
                return self.forms[form]
        return None


def _best_name(synset: Synset, kind: str) -> str:
    """The name that includes its kind, such as 'Lake Erie', or else the first one."""
    noun = kind.rpartition(" ")[2]
    for word in synset.words:
        if re.search(rf"\b({noun}|mount|mountains|range)\b", word.lower()):
            return word
    return synset.words[0]
