"""Ids and specs."""

from pathlib import Path
from typing import Any

import pytest

from gem.errors import SpecError
from gem.packs.spec import EnvId, EnvSpec


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("game:GuessTheNumber-v0-easy", ("game", "GuessTheNumber", 0, "easy")),
        ("math:GSM8K", ("math", "GSM8K", None, None)),
        ("math:Arithmetic-v12", ("math", "Arithmetic", 12, None)),
        ("math:ASDiv2K-hard", ("math", "ASDiv2K", None, "hard")),
        ("eval:AIME24", ("eval", "AIME24", None, None)),
        ("rg:letter_counting", ("rg", "letter_counting", None, None)),
        ("code:Tests-v1-with-two.parts_3", ("code", "Tests", 1, "with-two.parts_3")),
        ("a1_b:9x", ("a1_b", "9x", None, None)),
    ],
)
def test_an_id_comes_apart_and_together_again(text: str, parts: tuple[str, str, int | None, str | None]) -> None:
    assert EnvId.parse(text) == parts
    assert str(EnvId.parse(text)) == text


NO_IDS = ["", "game", "game:", ":Sudoku", "Game:Sudoku", "1game:A", "ga-me:A", "game:Sudoku v0", "game:a:b"]
NO_IDS += ["x" * 100_000, "\0.py", "../x.py:Y", "game:-v0", "game:A-", "game:A\n", "game:é", "game:A-v٣"]


@pytest.mark.parametrize("text", NO_IDS)
def test_a_text_that_is_not_an_id_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SpecError, match="game:GuessTheNumber-v0-easy") as raised:
        EnvId.parse(text)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("name", ["coin", "coin.py", "coin.py:Coin", "./coin.py:Coin"])
def test_the_error_for_the_file_of_an_env_says_what_to_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "coin.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=rf"For an object in coin\.py write coin:{'Coin' if ':' in name else 'NAME'}\."):
        EnvId.parse(name)


@pytest.mark.parametrize(
    ("wrong", "fragment"),
    [
        ({"id": "nonsense"}, "nonsense"),
        ({"entry_point": "no_colon"}, "no_colon"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": "5"}, "max_turns"),
        ({"kwargs": {"max_turns": 0}}, "max_turns"),
        ({"kwargs": ["size"]}, "kwargs"),
        ({"tags": "one"}, "tags"),
        ({"wrappers": [3]}, "3 is neither a name nor"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_spec_is_checked(wrong: dict[str, Any], fragment: str) -> None:
    with pytest.raises((ValueError, TypeError), match=fragment):
        EnvSpec(**({"id": "game:A", "entry_point": "a.b:C"} | wrong))


def test_a_spec_cannot_be_changed() -> None:
    spec = EnvSpec(id="game:A", entry_point="a.b:C")

    with pytest.raises(AttributeError, match="immutable"):
        spec.id = "game:B"  # pyright: ignore[reportAttributeAccessIssue]
    assert spec.namespace == "game"


def test_a_limit_among_the_kwargs_is_the_specs_limit() -> None:
    among = EnvSpec(id="game:A", entry_point="a.b:C", kwargs={"size": 3, "max_turns": 5})
    unlimited = EnvSpec(id="game:A", entry_point="a.b:C", kwargs={"max_turns": None})

    assert among == EnvSpec(id="game:A", entry_point="a.b:C", kwargs={"size": 3}, max_turns=5)
    assert unlimited.kwargs == {"max_turns": None}  # "no limit", which is not "nothing said"
