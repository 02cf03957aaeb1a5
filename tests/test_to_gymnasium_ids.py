"""Gymnasium's own checker passes environments of several packs, and tools."""

import pytest

import gem


@pytest.mark.full
@pytest.mark.parametrize(
    ("id", "wrappers"),
    [
        ("game:GuessTheNumber-v0-easy", []),
        ("game:Sudoku-v0-easy", []),
        ("game:Wordle-v0", []),
        ("game:Sokoban-v0-easy", ["concat"]),
        ("math:Arithmetic-v0", []),
        ("math:Arithmetic-v0", [{"name": "tool_env", "tools": ["calculator"]}]),
        ("tools:Calendar-v0", []),
        ("rg:arc_1d", []),
    ],
)
def test_gymnasiums_own_checker_has_nothing_to_say(id: str, wrappers: list[object]) -> None:
    from gymnasium.utils.env_checker import check_env

    from gem_interop.gymnasium import ToGymnasium

    with ToGymnasium(gem.make(id, wrappers=wrappers), render_mode="ansi") as env:
        check_env(env)
