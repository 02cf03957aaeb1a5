"""The figures of README and docs/benchmarks.md are those of benchmarks/figures.json, which `make figures` measures."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

import figures  # noqa: E402

KEPT = json.loads(figures.FILE.read_text("utf-8"))


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_what_was_measured(page: Path) -> None:
    text = page.read_text("utf-8")

    assert figures.written(text, KEPT) == text
    changed = re.sub(r"(\| [\d,.]+)(\d)( \|)", lambda cell: f"{cell[1]}{9 - int(cell[2])}{cell[3]}", text, count=1)
    assert changed != text
    assert figures.written(changed, KEPT) == text


def test_each_table_is_measured_and_shown_once() -> None:
    shown = [name for page in figures.PAGES for name in re.findall(r"<!-- figures: (\w+) -->", page.read_text("utf-8"))]

    assert sorted(shown) == sorted([*figures.COMMANDS, "readme"])
    assert KEPT.keys() == figures.COMMANDS.keys()
    assert all(KEPT[name]["command"] == command for name, command in figures.COMMANDS.items())
