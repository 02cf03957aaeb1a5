"""`gemx list --html`: the page of cards, and the floors on it."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.cards import page_of_cards
from gem.cli.floors import measure_floors
from gem.cli.main import main
from gem.packs import registry
from gem.packs.discovery import CORE, Pack, find_packs

HOSTILE = "<script>alert(1)</script> /*program*/ & 'quoted'"


def gemx(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


class Cards(HTMLParser):
    """The texts of the cards of a page, by the element that they are in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cards: list[dict[str, list[str]]] = []
        self.scripts = 0
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.scripts += tag == "script"
        if tag == "article":
            self.cards.append({})
        if tag not in ("meta", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "article" in self._open:
            self.cards[-1].setdefault(self._open[-1], []).append(data)


PLUGIN = """
import gem
from gem.packs.hookspecs import hookimpl

GEM_API = 1

@hookimpl
def gem_envs():
    return [gem.EnvSpec(entry_point="sample_envs:Sum", **fields) for fields in {specs!r}]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Environments of two packs, one of which brings its floors along; the file of those."""
    of_packs = {
        "lab_pack": [
            {"id": "lab:A", "description": HOSTILE, "tags": ("one", "two"), "max_turns": 7},
            {"id": "lab:C", "description": "Sums of numbers"},
        ],
        "other_pack": [{"id": "lab:B", "tags": ("single-turn",), "extra": "gem-other[x]"}],
    }
    for name, specs in of_packs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "plugin.py").write_text(PLUGIN.format(specs=specs))
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.delitem(sys.modules, f"{name}.plugin", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    packs = [pack for pack in find_packs() if pack.distribution == CORE]
    packs += [Pack(f"gem-{name}", "1.2", f"{name}.plugin", ("lab",)) for name in of_packs]
    monkeypatch.setattr(registry, "_registry", registry.Registry(packs))
    return tmp_path / "lab_pack" / "floors.json"


def test_a_card_says_what_there_is_to_know_of_an_environment(lab: Path, tmp_path: Path) -> None:
    lab.write_text(json.dumps({"episodes": 200, "floors": {"lab:A": {"random": 0.125, "expert": None}}}))
    out = tmp_path / "new" / "page.html"
    done = gemx("list", "lab", "--html", str(out))
    page = out.read_text()
    found = Cards(page)

    assert done.stdout == f"{out}: 3 environments; open it in a browser\n"
    assert [card["h3"] for card in found.cards] == [["lab:A"], ["lab:C"], ["lab:B"]]  # by pack
    first, last = found.cards[0], found.cards[2]
    assert ("".join(first["p"]), first["button"]) == (f"{HOSTILE}at most 7 turns", ["one", "two"])
    assert (first["span"], first["pre"]) == (["random", "12%"], ["gemx play lab:A"])
    assert last["p"] == ["floors not known", "one turn", "needs "]
    assert last["code"] == ["pip install 'gem-other[x]'"]
    assert "Floors: success over 200 episodes" in page
    assert found.scripts == 1
    assert not re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page)


@pytest.mark.parametrize("text", ['{"floors": 3}', '{"episodes": 9, "floors": {"lab:C": {"random": 60}}}'])
def test_floors_of_another_form_are_named_and_left_out(lab: Path, tmp_path: Path, text: str) -> None:
    lab.write_text(text)
    done = gemx("list", "lab", "--html", str(tmp_path / "page.html"))

    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("floors.json of gem-lab_pack cannot be read: ")
    assert "Floors are not known: --floors N measures them" in (tmp_path / "page.html").read_text()


def test_what_list_measures_is_what_a_pack_brings_along(lab: Path, tmp_path: Path) -> None:
    printed = gemx("list", "C", "--floors", "4", "--json").stdout
    lab.write_text(printed)
    gemx("list", "lab", "--html", str(tmp_path / "page.html"))

    assert json.loads(printed)["floors"]["lab:C"] == {"random": 1.0, "expert": 1.0}
    assert Cards((tmp_path / "page.html").read_text()).cards[1]["span"] == ["random", "100%", "expert", "100%"]


@pytest.mark.usefixtures("core_only")
def test_floors_are_measured_where_they_can_be() -> None:
    for number, path in enumerate(("sample_envs:Sum", "sample_envs:NoExpert", "no_such_module:X")):
        gem.register(f"lab:{number}", path)
    said: list[str] = []
    floors = measure_floors([gem.get_spec(f"lab:{number}") for number in range(3)], 3, said.append)

    assert floors.model_dump() == {
        "episodes": 3,
        "floors": {
            "lab:0": {"random": 1.0, "expert": 1.0},
            "lab:1": {"random": 1.0, "expert": None},
            "lab:2": {"random": None, "expert": None},
        },
    }
    assert said == ["lab:0", "lab:1", "lab:2"]


def test_floors_without_a_page_are_refused_before_anything_is_played() -> None:
    done = gemx("list", "--floors", "5")

    assert (done.exit_code, done.stderr) == (
        1,
        "gemx: --floors is for a page or for JSON: give --html FILE or --json\n",
    )


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("spelt", ["gem-lab_pack", "Gem_Lab-Pack"])
def test_a_pack_is_found_in_every_spelling_that_pip_takes(spelt: str) -> None:
    assert "lab:A" in gemx("list", "--pack", spelt).stdout


@pytest.mark.usefixtures("lab")
def test_a_misspelt_pack_or_tag_is_answered_with_those_that_were_meant() -> None:
    assert (
        "There is no pack 'gem-labpack' here. Did you mean 'gem-lab_pack'"
        in gemx("list", "--pack", "gem-labpack").stderr
    )
    assert "No environment has the tag 'One'. Did you mean 'one'?" in gemx("list", "--tag", "One").stderr


def test_a_page_replaces_no_file_of_another_kind(tmp_path: Path) -> None:
    kept = tmp_path / "episodes.jsonl"
    kept.write_text("kept")

    for command in (("list", "--html", str(kept)), ("view", str(kept), "--out", str(kept))):
        done = gemx(*command)
        assert done.exit_code == 2
        assert "a page is called NAME.html" in done.stderr
    assert kept.read_text() == "kept"


def test_a_page_without_cards_is_not_written(tmp_path: Path) -> None:
    done = gemx("list", "nothing like this", "--html", str(tmp_path / "page.html"))

    assert "No environment of the installed packs matches." in done.stderr
    assert done.exit_code == gemx("list", "nothing like this").exit_code == 1
    assert not (tmp_path / "page.html").exists()
    assert page_of_cards([], None).count("<article") == 0
