"""A BM25 index in this process, by the library bm25s."""

from collections.abc import Sequence
from typing import Any, cast

import bm25s  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numpy.typing import NDArray

from gem_tools.search.corpus import Corpus
from gem_tools.search.retriever import Hit, best

_bm25s: Any = bm25s
"""The library has no types."""


class BM25:
    """Ranks documents by BM25 over the words of their titles and texts, as bm25s computes it with its own defaults.

    A document without any word of the query is not a hit, so there may be fewer than `topk` hits, or none. Of documents
    with equal scores the earlier in the corpus comes first.

    Source: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); X. H. Lù,
    "BM25S: Orders of magnitude faster lexical search via eager sparse scoring", arXiv 2407.03618.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        """Documents that are searched."""
        self._index = _bm25s.BM25()
        self._index.index(_words([document.contents for document in corpus]), show_progress=False)

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """See `Retriever.search`."""
        return [self._hits(words, topk) for words in _words(queries)]

    def _hits(self, words: list[str], topk: int) -> list[Hit]:
        known: list[int] = self._index.get_tokens_ids(words)
        if not known:
            return []
        scores = cast("NDArray[np.float32]", self._index.get_scores_from_ids(known))
        matching = np.flatnonzero(scores)
        places = matching[best(scores[matching], topk)]
        return [Hit(self.corpus[place], float(scores[place])) for place in places.tolist()]


def _words(texts: Sequence[str]) -> list[list[str]]:
    return _bm25s.tokenize(list(texts), return_ids=False, show_progress=False)
