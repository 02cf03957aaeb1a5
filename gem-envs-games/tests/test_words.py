from importlib.resources import files

import pytest

from gem_envs_games.words import LONGEST, SHORTEST, common_words, known_words

LENGTHS = range(SHORTEST, LONGEST + 1)


@pytest.mark.parametrize("length", LENGTHS)
def test_there_are_hundreds_of_words_of_each_length_in_plain_capitals_and_none_twice(length):
    common, known = common_words(length), known_words(length)
    assert len(common) >= 200
    assert len(known) >= 400
    assert len(set(known)) == len(known)
    assert set(common) < set(known)
    assert all(len(word) == length and word.isascii() and word.isalpha() and word.isupper() for word in known)


def test_well_known_words_are_there_and_non_words_are_not():
    assert {"CAT", "TREE", "HOUSE", "FRIEND", "COUNTRY", "QUESTION"} <= {w for n in LENGTHS for w in common_words(n)}
    assert {"CRANE", "SLATE", "ADIEU"} - set(known_words(5)) <= {"ADIEU"}
    assert not {"AEIOU", "XXXXX", "QWERT"} & set(known_words(5))


def test_the_files_are_small_and_their_provenance_counts_their_words():
    data = files("gem_envs_games").joinpath("data")
    texts = [data.joinpath(name).read_bytes() for name in ("words_common.txt", "words_more.txt")]
    assert sum(map(len, texts)) < 200_000
    provenance = data.joinpath("WORDS.md").read_text(encoding="utf-8")
    assert all(f"{len(text.split()):,}" in provenance for text in texts)
    assert "Kevin Atkinson" in data.joinpath("SCOWL-COPYRIGHT.txt").read_text(encoding="utf-8")
