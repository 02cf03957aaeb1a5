"""The index that all envs of a process share, built when it is first needed."""

from functools import cache
from pathlib import Path
from threading import Lock

from gem_tools.search.bm25 import BM25
from gem_tools.search.corpus import Corpus, corpus_file

_building = Lock()


def shared_index(corpus: str | Path | None = None) -> BM25:
    """The one index of this process over a JSONL file (of a package, too), or over the corpus that ships.

    The first call builds it (tens of milliseconds for the one that ships), others wait for it and share it. A file
    that changes afterwards is not read again.
    """
    with _building:
        return _index(None if corpus is None else corpus_file(corpus).resolve())


@cache
def _index(path: Path | None) -> BM25:
    return BM25(Corpus.shipped() if path is None else Corpus.from_jsonl(path))
