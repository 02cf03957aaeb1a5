"""The two indexes of this process: words by bm25s, and vectors."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

import bm25s
import numpy as np
import pytest

from gem_tools.search import shared
from gem_tools.search.bm25 import BM25
from gem_tools.search.corpus import Corpus, Document
from gem_tools.search.dense import Dense
from gem_tools.search.retriever import best
from gem_tools.search.shared import shared_index


def queries():
    """Words of the corpus, from one to eight at a time, and some that it does not have."""
    corpus, rng = Corpus.shipped(), Random(0)
    words = [*(word for document in corpus for word in document.text.split()), "zebra", "the", "?"]
    return [" ".join(rng.choices(words, k=rng.randint(1, 8))) for _ in range(300)]


@pytest.mark.parametrize("topk", [1, 3, 10])
def test_a_search_returns_what_the_library_bm25s_returns(topk):
    corpus = Corpus.shipped()
    library = bm25s.BM25()
    library.index(bm25s.tokenize([one.contents for one in corpus], show_progress=False), show_progress=False)
    asked = queries()
    found = BM25(corpus).search(asked, topk)
    places, scores = library.retrieve(
        bm25s.tokenize(asked, show_progress=False), k=topk, show_progress=False, backend_selection="numpy"
    )

    for hits, their_places, their_scores in zip(found, places, scores, strict=True):
        # The library fills up with documents without a word of the query, and breaks ties arbitrarily.
        theirs = {place: score for place, score in zip(their_places, their_scores, strict=True) if score > 0}
        assert [hit.score for hit in hits] == sorted(theirs.values(), reverse=True)
        lowest = min(theirs.values(), default=0)
        clear = {corpus[place].id for place, score in theirs.items() if score > lowest}
        assert clear == {hit.document.id for hit in hits if hit.score > lowest}


def test_a_query_without_a_word_of_the_corpus_finds_nothing():
    assert BM25(Corpus.shipped()).search(["", "the of", "zebra", "\x00 !!"], 3) == [[], [], [], []]


def test_ties_keep_the_order_of_the_corpus():
    index = BM25(Corpus([Document(str(number), "", "pine fir" if number % 2 else "pine oak") for number in range(40)]))

    assert [hit.document.id for hit in index.search(["fir"], 4)[0]] == ["1", "3", "5", "7"]


@pytest.mark.parametrize("topk", [1, 2, 7, 50, 60])
def test_the_best_scores_are_those_that_sorting_finds(topk):
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(0, 9, size=50).astype(np.float32)
        want = sorted(range(50), key=lambda place: (-scores[place], place))[:topk]
        assert best(scores, topk).tolist() == want


def test_a_process_builds_the_index_once_however_many_threads_ask_for_it(tmp_path, monkeypatch):
    built = []

    class Counted(BM25):
        def __init__(self, corpus):
            built.append(corpus)
            super().__init__(corpus)

    monkeypatch.setattr(shared, "BM25", Counted)
    file = tmp_path / "trees.jsonl"
    file.write_text('{"text": "elm"}', "utf-8")
    with ThreadPoolExecutor(16) as pool:
        indexes = list(pool.map(lambda _: shared_index(file), range(64)))

    assert len(built) == 1
    assert {id(index) for index in indexes} == {id(shared_index(str(file)))}


def test_concurrent_threads_find_what_one_thread_finds():
    asked = queries()
    alone = [shared_index().search([query], 3)[0] for query in asked]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: shared_index().search([query], 3)[0], asked))

    assert together == alone == shared_index().search(asked, 3)


def test_loading_the_pack_imports_no_index():
    code = "import sys; from gem.packs.registry import registry; registry().load('tools'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not {"bm25s", "aiohttp", "gem_tools.search.corpus"} & set(done.stdout.split())


def letters(texts):
    """Counts of each letter: vectors whose cosines can be checked by hand."""
    return [[text.lower().count(chr(97 + place)) for place in range(26)] for text in texts]


def test_vectors_rank_by_cosine_with_every_document():
    corpus, asked = Corpus.shipped(), queries()[:20]
    found = Dense(corpus, letters).search(asked, 5)

    vectors = np.array(letters([one.contents for one in corpus]), dtype=float)
    for query, hits in zip(asked, found, strict=True):
        vector = np.array(letters([query])[0], dtype=float)
        cosines = vectors @ vector / np.linalg.norm(vectors, axis=1) / max(np.linalg.norm(vector), 1e-9)
        assert [hit.score for hit in hits] == pytest.approx(sorted(cosines, reverse=True)[:5], abs=1e-6)


def test_queries_and_documents_may_have_different_encoders():
    index = Dense(
        Corpus([Document("a", "", "xxx"), Document("b", "", "yyy")]), lambda texts: letters(["y"] * len(texts)), letters
    )

    assert index.search(["xxx"], 1)[0][0].document.id == "b"
    assert index.search([], 1) == []


@pytest.mark.full
def test_a_model_of_sentence_transformers_encodes_queries_and_documents(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    corpus = Corpus(list(Corpus.shipped())[:40])
    words = sorted({word for one in corpus for word in one.contents.split()})
    tokenizer = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(["[PAD]", "[UNK]", *words])}, "[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    bert = BertModel(BertConfig(vocab_size=len(words) + 2, **sizes))
    bert.save_pretrained(tmp_path / "bert")
    fast.save_pretrained(tmp_path / "bert")
    transformer = Transformer(str(tmp_path / "bert"))
    model = SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu")
    model.save(str(tmp_path / "model"))

    index = Dense.from_model(corpus, str(tmp_path / "model"), device="cpu")
    found = index.search([one.contents for one in corpus], 1)

    assert [hits[0].document for hits in found] == list(corpus)
    assert [hits[0].score for hits in found] == pytest.approx([1.0] * 40, abs=1e-5)
