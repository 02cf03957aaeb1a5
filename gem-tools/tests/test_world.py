"""The corpus that ships: made by the committed script, without contradictions, each fact stated once."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "world/make_world.py"
FILE = files("gem_tools").joinpath("data/world.jsonl")
ROWS = {row["id"]: row for row in map(json.loads, FILE.read_text("utf-8").splitlines())}


def test_the_script_makes_the_file_that_ships(tmp_path):
    subprocess.run([sys.executable, SCRIPT, "--out", tmp_path / "world.jsonl"], check=True)

    assert (tmp_path / "world.jsonl").read_bytes() == FILE.read_bytes()
    assert len(FILE.read_bytes()) < 300_000


def test_no_two_documents_have_the_same_title():
    assert len({row["title"] for row in ROWS.values()}) == len(ROWS) > 500


def test_every_fact_is_stated_in_its_document():
    for row in ROWS.values():
        for value in row["facts"].values():
            assert (ROWS[value]["title"] if isinstance(value, str) else str(value)) in row["text"]


def test_a_text_names_only_the_values_of_its_facts():
    titles = {id: row["title"] for id, row in ROWS.items()}
    for id, row in ROWS.items():
        own = {row["title"], *(titles[value] for value in row["facts"].values() if isinstance(value, str))}
        named = {title for title in titles.values() if title in row["text"]}
        # A title may be part of a longer one that is meant.
        assert all(any(title in mine for mine in own) for title in named), id
