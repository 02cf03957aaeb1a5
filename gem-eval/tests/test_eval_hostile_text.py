"""What a pack or a recording says reaches the terminal as text, and the page as text, when it is measured."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hostile_pack import COMMANDS, HOSTILE, STYLES, install

from gem.cli.main import main


@pytest.fixture(autouse=True)
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hostile pack is installed, and `out` has an episode of it, altered."""
    install(tmp_path, monkeypatch, "evaluation")
    done = CliRunner().invoke(main, ["eval", "hostile:Env-v0", "--episodes", "1", "--out", "out"])
    assert done.exit_code == 0, done.output
    file = tmp_path / "out" / "episodes.jsonl"
    episode: dict[str, Any] = json.loads(file.read_text())
    turn = episode["traces"][0]["turns"][0]
    turn["observation"] = f"{HOSTILE} as recorded"
    others = [
        {**episode, "traces": [{"turns": [{**turn, "observation": HOSTILE, "reward": 7.0}]}], "id": "hostile:Env-v0"},
        {**episode, "id": f"hostile:{HOSTILE}"},
        {**episode, "spec": {**episode["spec"], "kwargs": {HOSTILE: 1}}},
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in (episode, *others)))


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "hostile:Raising-v0", "--episodes", "1"],
        ["--debug", "eval", "hostile:Raising-v0", "--episodes", "1"],
        ["reproduce", "out", "--trust"],
        ["rescore", "out", "--trust"],
        ["eval", "hostile:Env-v0", "--model", HOSTILE],
    ],
    ids=lambda words: " ".join(words)[:40].replace(HOSTILE[:4], ""),
)
def test_every_command_spells_out_what_would_command_the_terminal(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, arguments, color=True)

    printed = STYLES.sub("", done.output)
    assert re.search(r"\\(x1b|u001b)]52;c;", printed), (done.output, done.exception)
    assert COMMANDS.findall(printed) == []
    assert isinstance(done.exception, SystemExit | None)  # nothing is left for Python to print
