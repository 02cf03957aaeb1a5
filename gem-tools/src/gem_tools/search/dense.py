"""An index of vectors in this process: documents by the similarity of their meaning to the query's."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gem.errors import ConfigError, MissingExtra
from gem_tools.search.corpus import Corpus
from gem_tools.search.retriever import Hit, best

Encoder = Callable[[list[str]], Any]
"""Texts in, an array of shape (texts, dimensions) out. Any number of threads may call it at once."""


class Dense:
    """Ranks all documents by the cosine between their vector and the query's.

    Args:
        corpus: what to search.
        encode_query: from queries to vectors.
        encode_document: from documents to vectors; None to use `encode_query` for both.
    """

    def __init__(self, corpus: Corpus, encode_query: Encoder, encode_document: Encoder | None = None) -> None:
        self.corpus = corpus
        self._encode = encode_query
        self._vectors = _unit(encode_document or encode_query, [document.contents for document in corpus])

    @classmethod
    def from_model(cls, corpus: Corpus, model: str, **settings: Any) -> Self:
        """Encode with a model of sentence-transformers: a path, or a name on the Hugging Face hub.

        The model's own prompts for queries and documents are used. `settings` go to `SentenceTransformer`, such as
        `device="cuda"`.

        Raises:
            MissingExtra: the package sentence-transformers is not installed.
        """
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra("to search by vectors: pip install 'gem-tools[dense]'") from error
        encoder: Any = SentenceTransformer(model, **settings)
        return cls(
            corpus,
            lambda texts: encoder.encode_query(texts, show_progress_bar=False),
            lambda texts: encoder.encode_document(texts, show_progress_bar=False),
        )

    def search(self, queries: Sequence[str], topk: int) -> list[list[Hit]]:
        """See `Retriever.search`."""
        if not queries:
            return []
        return [self._hits(row, topk) for row in _unit(self._encode, list(queries)) @ self._vectors.T]

    def _hits(self, scores: NDArray[np.float32], topk: int) -> list[Hit]:
        return [Hit(self.corpus[place], float(scores[place])) for place in best(scores, topk).tolist()]


def _unit(encode: Encoder, texts: list[str]) -> NDArray[np.float32]:
    vectors = np.asarray(encode(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ConfigError(
            f"the encoder made an array of shape {vectors.shape} of {len(texts)} texts; it needs a row per text"
        )
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
