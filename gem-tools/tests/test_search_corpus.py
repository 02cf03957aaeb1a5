import json

from gem_tools.search.corpus import Corpus, Document

ROWS = [
    {"id": "a", "title": "Elm", "text": "A tree."},
    {"title": "Oak", "text": "Another tree.", "more": 1},
    {"id": 7, "contents": '"Ash"\nA tree, or what a fire leaves.\nGrey.'},
]
DOCUMENTS = [
    Document("a", "Elm", "A tree."),
    Document("2", "Oak", "Another tree."),
    Document("7", "Ash", "A tree, or what a fire leaves.\nGrey."),
]


def write(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_a_file_may_have_titles_and_texts_or_contents_as_in_search_r1(tmp_path):
    assert list(Corpus.from_jsonl(write(tmp_path / "trees.jsonl", ROWS))) == DOCUMENTS


def test_a_document_is_found_by_its_id_or_by_its_title_and_near_titles_are_listed():
    corpus = Corpus([*DOCUMENTS, Document("elm", "elm", "a second one")])

    assert corpus.find("a") is corpus.find(' "ELM" ') is corpus[0]
    assert corpus.find("elm") is corpus[3]
    assert corpus.find("Beech") is None
    assert corpus.near("oack") == ["Oak"]


def test_a_corpus_may_be_a_file_of_an_installed_package():
    assert list(Corpus.from_jsonl("gem_tools:data/world.jsonl")) == list(Corpus.shipped())
