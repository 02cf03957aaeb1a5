"""`Retriever`: queries in, the best documents for each out."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gem_tools.search.corpus import Document


class Hit(NamedTuple):
    """A `document` that was found. Scores of one retriever compare; those of two do not."""

    document: Document
    score: float | None
    """Higher is better; None from a search engine without scores."""


class Retriever(Protocol):
    """An index, or a client of one. Any number of threads may search at once."""

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """Hits of each query, in order: at most `topk`, the best first.

        Raises:
            Fault: the server that has the index does not answer as it should.
        """
        ...


def best(scores: NDArray[np.floating], topk: int) -> NDArray[np.intp]:
    """The places of the `topk` highest scores, highest first; of equal ones the earlier comes first.

    `numpy.argpartition` alone would break ties by the machine's vector instructions, and an episode replayed on another
    machine would see other documents.
    """
    if topk >= len(scores):
        return np.argsort(-scores, kind="stable")
    lowest = np.partition(scores, -topk)[-topk]
    places = np.flatnonzero(scores >= lowest)
    return places[np.argsort(-scores[places], kind="stable")][:topk]
