"""The table of this pack's games and their variants. Listing imports this module and no game."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import gem

GEM_API = 1


class _Game(NamedTuple):
    name: str
    entry_point: str
    about: str
    tag: str
    variants: Mapping[str, Mapping[str, Any]]
    """Suffix of the id → the game's kwargs, with the names of gem-llm; "" is the id without a suffix, which gem-llm
    registered up to its version 0.0.4. What is None is drawn in each episode."""
    known: Mapping[str, Mapping[str, str]] = {}
    """Suffix of the id → its known findings."""

    def specs(self) -> list[gem.EnvSpec]:
        return [
            gem.EnvSpec(
                id=f"game:{self.name}-v0{variant and '-'}{variant}",
                entry_point=f"gem_envs_games.{self.entry_point}",
                kwargs=kwargs,
                description=f"{self.about} ({_settings(kwargs)})",
                tags=("game", "multi-turn", self.tag),
                known_findings=self.known.get(variant, {}),
            )
            for variant, kwargs in self.variants.items()
        ]


def _settings(kwargs: Mapping[str, Any]) -> str:
    fixed = [f"{name}={value}" for name, value in kwargs.items() if value is not None]
    drawn = [name for name, value in kwargs.items() if value is None]
    return ", ".join([*fixed, f"{', '.join(drawn)} drawn each episode"] if drawn else fixed)


_SAME_TOWER = {"blind": "By its rules the game always starts with all disks on A; the variant random draws how many."}
_ONE_START = {"duplicates": "The rules of the game give the start: only the number of disks varies."}
_TRYING_OUT = {"random_play": "A wrong digit is refused, as in gem-llm, so trying digits out solves the puzzle."}
_LUCK = {"solvable": "What is hidden cannot always be found out in time: even the expert has to guess now and then."}
_OUT_OF_REACH = {"solvable": "The target takes more turns than gem-llm's settings give; each doubling is rewarded."}

_GAMES = (
    _Game("GuessTheNumber", "guess_the_number:GuessTheNumber", "Find a number from the answers higher or lower",
          "search", {
        "": {"min_number": 1, "max_number": 20, "max_turns": 10},
        "easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
        "hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
        "random": {"min_number": None, "max_number": None, "max_turns": None},
    }, {"easy": {"levels": "As in gem-llm: 4 turns for 10 numbers leave less room than 10 turns for 20."}}),
    _Game("Hangman", "hangman:Hangman", "Find a secret word by guessing letters of it, or the word", "search", {
        "": {"word_length": 5, "hardcore": False, "max_turns": 15},
        "easy": {"word_length": 3, "hardcore": False, "max_turns": 10},
        "hard": {"word_length": 7, "hardcore": False, "max_turns": 20},
        "random": {"word_length": None, "hardcore": False, "max_turns": None},
    }, {"easy": {"levels": "As in gem-llm: the letters of a short word say less about the others.", **_LUCK},
        "random": _LUCK}),
    _Game("Mastermind", "mastermind:Mastermind", "Find a secret code from black and white pegs", "deduction", {
        "": {"code_length": 4, "num_numbers": 6, "max_turns": 20, "duplicate_numbers": False},
        "easy": {"code_length": 2, "num_numbers": 6, "max_turns": 10, "duplicate_numbers": False},
        "hard": {"code_length": 4, "num_numbers": 8, "max_turns": 30, "duplicate_numbers": False},
        "random": {"code_length": None, "num_numbers": None, "max_turns": None, "duplicate_numbers": False},
    }),
    _Game("Minesweeper", "minesweeper:Minesweeper", "Reveal every cell without a mine", "deduction", {
        "": {"rows": 8, "cols": 8, "num_mines": 10, "max_turns": 100},
        "easy": {"rows": 5, "cols": 5, "num_mines": 5, "max_turns": 25},
        "hard": {"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 64},
        "random": {"rows": None, "cols": None, "num_mines": None, "max_turns": None},
    }, dict.fromkeys(("", "easy", "hard", "random"), _LUCK)),
    _Game("Sudoku", "sudoku:Sudoku", "Fill the grid with each digit once in every row, column and box", "deduction", {
        "": {"scale": 9, "clues": 50, "max_turns": 50},
        "easy": {"scale": 4, "clues": 10, "max_turns": 15},
        "hard": {"scale": 9, "clues": 50, "max_turns": 50},
        "random": {"scale": None, "clues": None, "max_turns": None},
        "easy-forgiving": {"scale": 4, "clues": 10, "max_turns": 15, "forgiving": True},
        "hard-forgiving": {"scale": 9, "clues": 50, "max_turns": 50, "forgiving": True},
        "random-forgiving": {"scale": None, "clues": None, "max_turns": None, "forgiving": True},
    }, {
        "": {"overlap": "As in gem-llm: the id without a suffix is the hard one."},
        **{f"{level}-forgiving": _TRYING_OUT for level in ("easy", "hard", "random")},
    }),
    _Game("TowerofHanoi", "tower_of_hanoi:TowerOfHanoi", "Carry a tower of disks from A to C", "planning", {
        "": {"num_disks": 4, "max_turns": 20},
        "easy": {"num_disks": 3, "max_turns": 10},
        "hard": {"num_disks": 5, "max_turns": 35},
        "random": {"num_disks": None, "max_turns": None},
    }, {
        "random": _ONE_START,
        **{level: {**_ONE_START, **_SAME_TOWER} for level in ("", "easy", "hard")},
    }),
    _Game("FifteenPuzzle", "fifteen_puzzle:FifteenPuzzle", "Slide the tiles of a square into order", "planning", {
        "": {"num_rows": 3, "max_turns": 20},
        # With gem-llm's 10 turns one list of ten moves solves all eleven boards of this size.
        "easy": {"num_rows": 2, "max_turns": 6, "scramble": 5},
        "hard": {"num_rows": 4, "max_turns": 50},
        "random": {"num_rows": None, "max_turns": None},
    }, {"easy": {"duplicates": "A board of 2 × 2 has twelve positions that can be solved."}}),
    _Game("Wordle", "wordle:Wordle", "Find a secret word from marks on the letters of each guess", "deduction", {
        "": {"word_length": 5, "only_real_words": True, "max_turns": 15},
        "easy": {"word_length": 3, "only_real_words": True, "max_turns": 15},
        "hard": {"word_length": 5, "only_real_words": True, "max_turns": 25},
        "random": {"word_length": None, "only_real_words": True, "max_turns": None},
    }),
    _Game("Game2048", "game_2048:Game2048", "Slide and merge tiles up to a target", "planning", {
        "easy": {"target_tile": 64, "max_turns": 50},
        "hard": {"target_tile": 512, "max_turns": 50},
        "extreme-hard": {"target_tile": 2048, "max_turns": 100},
        "random": {"target_tile": None, "max_turns": None},
    }, dict.fromkeys(("hard", "extreme-hard"), _OUT_OF_REACH)),
    _Game("Sokoban", "sokoban:Sokoban", "Push every box onto a goal", "planning", {
        "easy": {"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
        "hard": {"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
        "random": {"dim_room": None, "num_boxes": None, "max_turns": None},
    }),
    _Game("Crosswords", "crosswords:Crosswords", "Fill a small crossword from its clues", "words", {
        "easy": {"hardcore": False, "max_turns": 30, "num_words": 3},
        "hard": {"hardcore": True, "max_turns": 40, "num_words": 3},
        "random": {"hardcore": None, "max_turns": None, "num_words": None},
    }),
    _Game("WordSearch", "word_search:WordSearch", "Find the words that are hidden in a grid of letters", "words", {
        "easy": {"num_words": 5, "max_turns": 20, "hardcore": False},
        "hard": {"num_words": 5, "max_turns": 20, "hardcore": True},
        "random": {"num_words": None, "max_turns": None, "hardcore": None},
    }),
    _Game("WikiGame", "wiki_game:WikiGame", "Get from one page of an encyclopedia to another by following links",
          "search", {
        "easy": {"max_turns": 30, "min_distance": 2, "max_distance": 4},
        "hard": {"max_turns": 15, "min_distance": 4, "max_distance": 6},
    }),
)  # fmt: skip


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [spec for game in _GAMES for spec in game.specs()]
