import re
from pathlib import Path

import pytest

from gem_envs_games.plugin import gem_envs
from gem_envs_games.table import row, table

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_the_readme_has_a_row_for_every_id():
    rows = re.findall(r"^\| `(game:[^`]+)` \|", README, re.MULTILINE)
    assert rows == [spec.id for spec in gem_envs()]


@pytest.mark.parametrize("id", ["game:GuessTheNumber-v0-random", "game:TowerofHanoi-v0-easy"])
def test_a_row_of_the_readme_is_what_its_command_prints(id):
    assert f"\n{row(id)}\n" in README


@pytest.mark.full
def test_the_table_of_the_readme_is_what_its_command_prints():
    assert table() in README


def test_the_python_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})
    assert capsys.readouterr().out
