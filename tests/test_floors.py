"""benchmarks/floors.py finds lists of replies that win without looking, where there are any."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "benchmarks" / "floors.py"
NEED_PLAY = ["game:GuessTheNumber-v0", "game:Mastermind-v0-easy"]
MORE = ["game:FifteenPuzzle-v0-easy", "game:Hangman-v0-easy", "math:Arithmetic-v0-easy"]
ALWAYS_THE_SAME = "game:TowerofHanoi-v0-easy"


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
