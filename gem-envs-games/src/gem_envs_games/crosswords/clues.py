"""The words of the crosswords, with a clue for each; data/CLUES.md says where they come from."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def clues(hardcore: bool) -> Mapping[str, str]:
    """Word in capitals → its clue: of the rarer words if `hardcore`, else of words that a child knows."""
    name = "clues_hard.txt" if hardcore else "clues_common.txt"
    lines = files("gem_envs_games").joinpath("data", name).read_text(encoding="ascii").splitlines()
    return {word.upper(): clue for word, clue in (line.split(": ", 1) for line in lines)}


@cache
def clued_words(hardcore: bool) -> tuple[str, ...]:
    """The words that have a clue, in order."""
    return tuple(clues(hardcore))
