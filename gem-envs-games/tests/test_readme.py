import re
from pathlib import Path

from gem_envs_games.table import table

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_the_readme_is_what_its_command_prints():
    assert table() in README


def test_the_readmes_python_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})
    assert capsys.readouterr().out
