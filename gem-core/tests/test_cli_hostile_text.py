"""What an env, a tool, a pack or a recording says reaches the terminal as text, never as commands to it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hostile_pack import HOSTILE

from gem.cli.main import main
from gem.cli.output import printable
from gem.packs import registry

STYLES = re.compile(r"\x1b\[[0-9;]*m")
"""What we print ourselves: bold, and colours."""
COMMANDS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hostile pack is installed beside one that cannot be imported, and this is an episode of it, altered."""
    for name, plugin in (("hostile", "hostile_pack"), ("broken", "broken_pack")):
        info = tmp_path / f"{name}_pack-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-pack\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[gem.packs]\n{name} = {plugin}\n")
    (tmp_path / "broken_pack.py").write_text(f"raise RuntimeError({HOSTILE!r})")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEM_PACKS", "core,hostile-pack,broken-pack")
    monkeypatch.setattr(registry, "_registry", registry.Registry())
    file = tmp_path / "out" / "episodes.jsonl"
    done = CliRunner().invoke(main, ["eval", "hostile:Env-v0", "--episodes", "1", "--out", str(file.parent)])
    assert done.exit_code == 0, done.output
    episode: dict[str, Any] = json.loads(file.read_text())
    episode["turns"][0]["observation"] = f"{HOSTILE} as recorded"
    others = [
        {**episode, "turns": [{**episode["turns"][0], "observation": HOSTILE, "reward": 7.0}], "id": "hostile:Env-v0"},
        {**episode, "id": f"hostile:{HOSTILE}"},
        {**episode, "kwargs": {HOSTILE: 1}},
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in (episode, *others)))
    return file


@pytest.mark.parametrize(
    ("arguments", "input"),
    [
        (["--help"], ""),
        (["list"], ""),
        (["info", "hostile:Env-v0"], ""),
        (["tools"], ""),
        (["tools", "hostile"], ""),
        (["play", "hostile:Env-v0", "--seed", "1"], ":hint\n:random\n"),
        (["play", "hostile:Env-v0", "--seed", "1"], f":raw {HOSTILE}\n"),
        (["play", "hostile:Raising-v0"], "anything\n"),
        (["--debug", "play", "hostile:Raising-v0"], "anything\n"),
        (["eval", "hostile:Raising-v0", "--episodes", "1"], ""),
        (["--debug", "eval", "hostile:Raising-v0", "--episodes", "1"], ""),
        (["check", "hostile:Raising-v0"], ""),
        (["--debug", "check", "hostile:Raising-v0"], ""),
        (["check", "hostile:Unpromising-v0"], ""),
        (["doctor"], ""),
        (["--debug", "doctor"], ""),
        (["reproduce", "out", "--trust"], ""),
        (["rescore", "out", "--trust"], ""),
        (["info", f"hostile:{HOSTILE}"], ""),
        (["eval", "hostile:Env-v0", "--model", HOSTILE], ""),
    ],
    ids=lambda value: " ".join(value)[:40].replace(HOSTILE[:4], "") if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("recording")
def test_every_command_spells_out_what_would_command_the_terminal(arguments: list[str], input: str) -> None:
    done = CliRunner().invoke(main, arguments, input=input, color=True)

    printed = STYLES.sub("", done.output)
    assert re.search(r"\\(x1b|u001b)]52;c;", printed), (done.output, done.exception)
    assert COMMANDS.findall(printed) == []
    assert isinstance(done.exception, SystemExit | None)  # nothing is left for Python to print


def test_text_that_commands_nothing_is_printed_as_it_is() -> None:
    text = "1\t2\n3 ü 世界 👩‍🚀 🏴\U000e0067\U000e0062\U000e007f שלום [bold]x[/bold] \\x1b"

    assert printable(text) == text
    assert printable("a\r\nb\rc") == "a\nb\\rc"
    assert printable("\x1b[31m\u202e\ud800") == r"\x1b[31m\u202e\ud800"
