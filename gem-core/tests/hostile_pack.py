"""A pack whose every text tries to command the terminal."""

import re
from pathlib import Path

import pytest

from gem import CommandSpec, EnvSpec, Step, TurnEnv, hookimpl
from gem.packs import registry
from gem.tool import tool

GEM_API = 1

HOSTILE = "shown\x1b]52;c;aGk=\x07 \x1b[2J\x1b[H \x9b31m \u202etxt.exe \x08\x08\r\x7f\x00\x85"
"""Fills the clipboard, clears the screen, colours by a C1 control, turns the line around, and writes over it."""
STYLES = re.compile(r"\x1b\[[0-9;]*m")
"""What we print ourselves: bold, and colours."""
COMMANDS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *others: str) -> None:
    """Put this pack into a folder, which becomes the current one, beside a pack that cannot be imported; hide all
    packs but these, the core and some `others`."""
    for name, plugin in (("hostile", "hostile_pack"), ("broken", "broken_pack")):
        info = folder / f"{name}_pack-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-pack\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[gem.packs]\n{name} = {plugin}\n")
    (folder / "broken_pack.py").write_text(f"raise RuntimeError({HOSTILE!r})")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GEM_PACKS", ",".join(("core", "hostile-pack", "broken-pack", *others)))
    monkeypatch.setattr(registry, "_registry", registry.Registry())


class Hostile(TurnEnv):
    __doc__ = HOSTILE

    def __init__(self, *, raising: bool = False, text: str = HOSTILE) -> None:
        super().__init__(max_turns=2)
        self.raising = raising
        self.text = text

    def _reset(self, options: object) -> str:
        return self.text

    def _step(self, action: str) -> Step:
        if self.raising:
            raise RuntimeError(HOSTILE)
        return Step.final(HOSTILE, float(self.rng.random() < 0.5), success=True)

    def sample_action(self) -> str:
        return HOSTILE

    def expert_action(self) -> str | None:
        return HOSTILE


class Unpromising(Hostile):
    """Says something else in every instance."""

    made = 0

    def _reset(self, options: object) -> str:
        type(self).made += 1
        return f"{self.made}{HOSTILE}"


@tool(name="hostile", description=HOSTILE)
def hostile_tool(text: str) -> str:
    return HOSTILE


@hookimpl
def gem_envs() -> list[EnvSpec]:
    return [
        EnvSpec(id="hostile:Env-v0", entry_point="hostile_pack:Hostile", description=HOSTILE, tags=(HOSTILE,)),
        EnvSpec(id="hostile:Raising-v0", entry_point="hostile_pack:Hostile", kwargs={"raising": True}),
        EnvSpec(id="hostile:Unpromising-v0", entry_point="hostile_pack:Unpromising"),
    ]


@hookimpl
def gem_tools() -> dict[str, str]:
    return {"hostile": "hostile_pack:hostile_tool"}


@hookimpl
def gem_commands() -> list[CommandSpec]:
    return [CommandSpec(name="hostile", entry_point="hostile_pack:nothing", help=HOSTILE)]
