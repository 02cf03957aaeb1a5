"""What play earns that does not look: the program that looks for it, on ids that are quick."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "benchmarks" / "floors.py"
NEED_PLAY = [
    "game:FifteenPuzzle-v0-easy",
    "game:GuessTheNumber-v0",
    "game:Hangman-v0-easy",
    "game:Mastermind-v0-easy",
    "math:Arithmetic-v0-easy",
]
ALWAYS_THE_SAME = "game:TowerofHanoi-v0-easy"


def test_no_list_of_replies_wins_most_games_but_where_every_game_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "floors.json"
    command = [sys.executable, str(PROGRAM), "--ids", ",".join([*NEED_PLAY, ALWAYS_THE_SAME]), "--episodes", "100"]
    printed = subprocess.run([*command, "--json", str(file)], check=True, capture_output=True, text=True).stdout
    rows = {row["id"]: row for row in json.loads(file.read_text())}

    assert all(f"| `{id}` |" in printed for id in rows)
    assert [id for id in NEED_PLAY if not rows[id]["blind"] <= 0.6 < rows[id]["expert"]] == []
    # A search that finds nothing would pass the test above.
    assert rows[ALWAYS_THE_SAME]["blind"] == 1
    assert rows["game:GuessTheNumber-v0"]["blind"] >= 0.4
    assert rows["game:Mastermind-v0-easy"]["blind"] > rows["game:Mastermind-v0-easy"]["constant"]
