import json

import pytest

from gem.errors import ConfigError
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


@pytest.mark.full
def test_a_data_set_is_read_by_the_library_datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    file = write(tmp_path / "trees.jsonl", [{"title": row.title, "text": row.text} for row in DOCUMENTS])

    corpus = Corpus.from_dataset("json", data_files=str(file), cache_dir=str(tmp_path / "sets"))

    assert [(one.title, one.text) for one in corpus] == [(one.title, one.text) for one in DOCUMENTS]
    assert [one.id for one in corpus] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "Expecting property name"),
        ('{"title": "x"}', "'text' or 'contents'"),
        ('{"text": 3}', "'text' or 'contents'"),
        ("[1]", "no attribute"),
    ],
)
def test_a_line_that_is_not_a_document_is_named(tmp_path, line, why):
    file = tmp_path / "trees.jsonl"
    file.write_text(json.dumps(ROWS[0]) + "\n\n" + line, "utf-8")

    with pytest.raises(ConfigError, match="line 3") as caught:
        Corpus.from_jsonl(file)
    assert why in str(caught.value)


def test_a_missing_file_an_empty_one_and_a_repeated_id_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no file"):
        Corpus.from_jsonl(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="no document"):
        Corpus([])
    with pytest.raises(ConfigError, match="'a'"):
        Corpus([Document("a", "x", ""), Document("b", "x", ""), Document("a", "y", "")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\x85\x00", "is not text in UTF-8"),
        (b"[" * 100_000, "line 1: maximum recursion depth"),
        (b"3\n", "line 1: "),
    ],
)
def test_a_file_that_is_not_a_corpus_is_refused_by_name(content, message, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=f"corpus.jsonl.*{message}"):
        Corpus.from_jsonl(path)
    with pytest.raises(ConfigError, match="Is a directory"):
        Corpus.from_jsonl(tmp_path)


def test_a_document_is_found_by_its_id_or_by_its_title_and_near_titles_are_listed():
    corpus = Corpus([*DOCUMENTS, Document("elm", "elm", "a second one")])

    assert corpus.find("a") is corpus.find(' "ELM" ') is corpus[0]
    assert corpus.find("elm") is corpus[3]
    assert corpus.find("Beech") is None
    assert corpus.near("oack") == ["Oak"]


def test_the_corpus_that_ships_is_there():
    corpus = Corpus.shipped()

    assert len(corpus) == 566
    assert corpus.find("Dunholt").text.startswith("Dunholt is a")


def test_a_corpus_may_be_a_file_of_an_installed_package():
    assert list(Corpus.from_jsonl("gem_tools:data/world.jsonl")) == list(Corpus.shipped())
    with pytest.raises(ConfigError, match="no package 'gem_nowhere'"):
        Corpus.from_jsonl("gem_nowhere:corpus.jsonl")
    with pytest.raises(ConfigError, match=r"no file 'gem_tools:none.jsonl'"):
        Corpus.from_jsonl("gem_tools:none.jsonl")
