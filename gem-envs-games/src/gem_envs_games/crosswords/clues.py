"""The words of the crosswords, with a clue for each. Where they come from is told in data/CLUES.md."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def clues(hardcore: bool) -> Mapping[str, str]:
    """The clue of each word, which is in capitals: the rarer words, or those that a child knows."""
    name = "clues_hard.txt" if hardcore else "clues_common.txt"
    lines = files("gem_envs_games").joinpath("data", name).read_text(encoding="ascii").splitlines()
    return {word.upper(): clue for word, clue in (line.split(": ", 1) for line in lines)}


@cache
def clued_words(hardcore: bool) -> tuple[str, ...]:
    """Those words, in order."""
    return tuple(clues(hardcore))
