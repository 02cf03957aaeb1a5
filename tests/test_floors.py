"""Floors: those that packs bring along are true, and benchmarks/floors.py finds replies that win without looking."""

import json
import re
import runpy
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.packs.discovery import CORE, OWN_PACKS, Pack
from gem.packs.registry import registry
from gem_eval.results.floors import measure_floors

PROGRAM = Path(__file__).parents[1] / "benchmarks" / "floors.py"
NEED_PLAY = ["game:GuessTheNumber-v0", "game:Mastermind-v0-easy"]
MORE = ["game:FifteenPuzzle-v0-easy", "game:Hangman-v0-easy", "math:Arithmetic-v0-easy"]
HOOKS = Path(__file__).parents[1] / "docs" / "hooks.py"
ALWAYS_THE_SAME = "game:TowerofHanoi-v0-easy"


def packaged(pack: Pack) -> dict[str, Any]:
    """The floors that a pack brings along, beside its plugin module."""
    file = resources.files(pack.module.rpartition(".")[0]).joinpath("floors.json")
    return json.loads(file.read_text("utf-8"))


@pytest.mark.parametrize("need_play", [NEED_PLAY, pytest.param([*NEED_PLAY, *MORE], marks=pytest.mark.full)])
def test_a_list_of_replies_wins_most_games_only_where_every_game_is_the_same(
    tmp_path: Path, need_play: list[str]
) -> None:
    file = tmp_path / "floors.json"
    command = [sys.executable, str(PROGRAM), "--ids", ",".join([*need_play, ALWAYS_THE_SAME]), "--episodes", "100"]
    printed = subprocess.run([*command, "--json", str(file)], check=True, capture_output=True, text=True).stdout
    rows = {row["id"]: row for row in json.loads(file.read_text())}

    assert all(f"| `{id}` |" in printed for id in rows)
    assert [id for id in need_play if not rows[id]["blind"] <= 0.6 < rows[id]["expert"]] == []
    # A search that finds nothing would pass the test above.
    assert rows[ALWAYS_THE_SAME]["blind"] == 1
    assert rows["game:GuessTheNumber-v0"]["blind"] >= 0.4
    assert rows["game:Mastermind-v0-easy"]["blind"] > rows["game:Mastermind-v0-easy"]["constant"]


@pytest.mark.parametrize("distribution", sorted(OWN_PACKS - {"gem-eval", "gem-train", "gem-interop"}))
def test_a_pack_brings_the_floors_of_all_its_environments_along(distribution: str) -> None:
    entries = [entry for entry in registry().entries() if entry.pack and entry.pack.distribution == distribution]
    assert entries[0].pack
    floors = packaged(entries[0].pack)

    assert list(floors["floors"]) == [entry.spec.id for entry in entries]
    # Of a game for several players, success is that of any.
    games = {entry.spec.id for entry in entries if "players" in entry.spec.tags}
    known = [each for id, each in floors["floors"].items() if each["random"] is not None and id not in games]
    assert all(each["random"] <= (1.0 if each["expert"] is None else each["expert"]) for each in known)
    # Of those that need nothing else, random play is known.
    other = [entry.spec for entry in entries if "data-set" not in entry.spec.tags and not entry.spec.extra]
    assert [spec.id for spec in other if floors["floors"][spec.id]["random"] is None] == []


@pytest.mark.parametrize(
    "id",
    ["game:GuessTheNumber-v0-easy"]
    + [
        pytest.param(id, marks=pytest.mark.full)
        for id in (
            "game:Hangman-v0-easy",
            "logic:Rules-v0",
            "math:Algebra-v0-easy",
            "rg:maze",
            "tools:MultiHop-v0-hard",
        )
    ],
)
def test_the_floors_of_a_pack_are_what_is_measured_again(id: str) -> None:
    pack = registry().find(id).pack
    assert pack
    floors = packaged(pack)

    assert measure_floors([gem.get_spec(id)], floors["episodes"], print)[id] == floors["floors"][id]


@pytest.mark.parametrize("distribution", sorted(OWN_PACKS - {CORE, "gem-eval", "gem-train", "gem-interop"}))
def test_the_site_has_a_page_of_the_environments_of_a_pack_with_their_floors(distribution: str) -> None:
    package = distribution.replace("-", "_")
    written = runpy.run_path(str(HOOKS))["environments"](package)
    specs = [each for each in gem.all_specs() if each.entry_point.startswith(f"{package}.")]

    assert f": environments/{package}.md\n" in HOOKS.parents[1].joinpath("mkdocs.yml").read_text("utf-8")
    assert [spec.id for spec in specs if f"\n| `{spec.id}` | {spec.description} (" not in written] == []
    if distribution == "gem-tools":
        assert re.search(r"tools:Calendar-v0-easy` \| .* \| \d+ \| 0\.\d\d \| 1\.00 \| \d+ sound.* \|\n", written)
