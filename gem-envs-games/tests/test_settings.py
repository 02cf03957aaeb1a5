"""Ids, the settings behind them, the order of arguments, and settings that are out of range."""

import inspect

import pytest

import gem
from gem.errors import ConfigError
from gem_envs_games import plugin
from gem_envs_games.crosswords import Crosswords
from gem_envs_games.fifteen_puzzle import FifteenPuzzle
from gem_envs_games.game_2048 import Game2048
from gem_envs_games.guess_the_number import GuessTheNumber
from gem_envs_games.hangman import Hangman
from gem_envs_games.mastermind import Mastermind
from gem_envs_games.minesweeper import Minesweeper
from gem_envs_games.sokoban import Sokoban
from gem_envs_games.sudoku import Sudoku
from gem_envs_games.tower_of_hanoi import TowerOfHanoi
from gem_envs_games.wiki_game import WikiGame
from gem_envs_games.word_search import WordSearch
from gem_envs_games.wordle import Wordle

SPECS = {spec.id: spec for spec in plugin.gem_envs()}
GEM_LLM_SETTINGS = {
    "game:Crosswords-v0-easy": {"hardcore": False, "max_turns": 30, "num_words": 3},
    "game:Crosswords-v0-hard": {"hardcore": True, "max_turns": 40, "num_words": 3},
    "game:Crosswords-v0-random": {"hardcore": None, "max_turns": None, "num_words": None},
    "game:FifteenPuzzle-v0-hard": {"num_rows": 4, "max_turns": 50},
    "game:FifteenPuzzle-v0-random": {"num_rows": None, "max_turns": None},
    "game:Game2048-v0-easy": {"target_tile": 64, "max_turns": 50},
    "game:Game2048-v0-hard": {"target_tile": 512, "max_turns": 50},
    "game:Game2048-v0-extreme-hard": {"target_tile": 2048, "max_turns": 100},
    "game:Game2048-v0-random": {"target_tile": None, "max_turns": None},
    "game:GuessTheNumber-v0-easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
    "game:GuessTheNumber-v0-hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
    "game:GuessTheNumber-v0-random": {"min_number": None, "max_number": None, "max_turns": None},
    "game:Hangman-v0-easy": {"word_length": 3, "hardcore": False, "max_turns": 10},
    "game:Hangman-v0-hard": {"word_length": 7, "hardcore": False, "max_turns": 20},
    "game:Hangman-v0-random": {"word_length": None, "hardcore": False, "max_turns": None},
    "game:Mastermind-v0-easy": {"code_length": 2, "num_numbers": 6, "max_turns": 10, "duplicate_numbers": False},
    "game:Mastermind-v0-hard": {"code_length": 4, "num_numbers": 8, "max_turns": 30, "duplicate_numbers": False},
    "game:Mastermind-v0-random": {
        "code_length": None,
        "num_numbers": None,
        "max_turns": None,
        "duplicate_numbers": False,
    },
    "game:Minesweeper-v0-easy": {"rows": 5, "cols": 5, "num_mines": 5, "max_turns": 25},
    "game:Minesweeper-v0-hard": {"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 64},
    "game:Minesweeper-v0-random": {"rows": None, "cols": None, "num_mines": None, "max_turns": None},
    "game:Sokoban-v0-easy": {"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
    "game:Sokoban-v0-hard": {"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
    "game:Sokoban-v0-random": {"dim_room": None, "num_boxes": None, "max_turns": None},
    "game:Sudoku-v0-easy": {"clues": 10, "max_turns": 15, "scale": 4},
    "game:Sudoku-v0-hard": {"clues": 50, "max_turns": 50, "scale": 9},
    "game:Sudoku-v0-random": {"clues": None, "max_turns": None, "scale": None},
    "game:TowerofHanoi-v0-easy": {"num_disks": 3, "max_turns": 10},
    "game:TowerofHanoi-v0-hard": {"num_disks": 5, "max_turns": 35},
    "game:TowerofHanoi-v0-random": {"num_disks": None, "max_turns": None},
    "game:WikiGame-v0-easy": {"max_turns": 30},
    "game:WikiGame-v0-hard": {"max_turns": 15},
    "game:WordSearch-v0-easy": {"num_words": 5, "max_turns": 20, "hardcore": False},
    "game:WordSearch-v0-hard": {"num_words": 5, "max_turns": 20, "hardcore": True},
    "game:WordSearch-v0-random": {"num_words": None, "max_turns": None, "hardcore": None},
    "game:Wordle-v0-easy": {"word_length": 3, "only_real_words": True, "max_turns": 15},
    "game:Wordle-v0-hard": {"word_length": 5, "only_real_words": True, "max_turns": 25},
    "game:Wordle-v0-random": {"word_length": None, "only_real_words": True, "max_turns": None},
}
FORGIVING = {
    f"{id}-forgiving": {**kwargs, "forgiving": True} for id, kwargs in GEM_LLM_SETTINGS.items() if "Sudoku" in id
}
BASE = {
    "game:FifteenPuzzle-v0": {"num_rows": 3, "max_turns": 20},
    "game:GuessTheNumber-v0": {"min_number": 1, "max_number": 20, "max_turns": 10},
    "game:Hangman-v0": {"word_length": 5, "hardcore": False, "max_turns": 15},
    "game:Mastermind-v0": {"code_length": 4, "num_numbers": 6, "max_turns": 20, "duplicate_numbers": False},
    "game:Minesweeper-v0": {"rows": 8, "cols": 8, "num_mines": 10, "max_turns": 100},
    "game:Sudoku-v0": {"clues": 50, "max_turns": 50, "scale": 9},
    "game:TowerofHanoi-v0": {"num_disks": 4, "max_turns": 20},
    "game:Wordle-v0": {"word_length": 5, "only_real_words": True, "max_turns": 15},
}
"""As gem-llm registered them up to its version 0.0.4."""
# gem-llm's 10 turns are enough for one list of moves to solve every board.
NEEDS_PLAY = {"game:FifteenPuzzle-v0-easy": {"num_rows": 2, "max_turns": 6, "scramble": 5}}
DISTANCES = {
    "game:WikiGame-v0-easy": {"max_turns": 30, "min_distance": 2, "max_distance": 4},
    "game:WikiGame-v0-hard": {"max_turns": 15, "min_distance": 4, "max_distance": 6},
}


def test_ids_and_settings_are_those_of_gem_llm_except_where_the_readme_says_so():
    expected = GEM_LLM_SETTINGS | BASE | FORGIVING | DISTANCES | NEEDS_PLAY
    # A limit on turns is a field of its own in a spec, unless it is None: drawn in each episode.
    given = {
        id: dict(spec.kwargs) | ({"max_turns": spec.max_turns} if spec.max_turns else {}) for id, spec in SPECS.items()
    }
    assert given == expected


ORDERS = {
    Crosswords: "hardcore max_turns num_words",
    FifteenPuzzle: "max_turns num_rows",
    Game2048: "target_tile max_turns board_size",
    GuessTheNumber: "min_number max_number max_turns",
    Hangman: "word_length hardcore max_turns",
    Mastermind: "code_length num_numbers duplicate_numbers max_turns",
    Minesweeper: "rows cols num_mines max_turns",
    Sokoban: "dim_room max_turns num_boxes",
    Sudoku: "clues max_turns scale",
    TowerOfHanoi: "num_disks max_turns",
    WordSearch: "hardcore max_turns num_words",
    Wordle: "word_length only_real_words max_turns",
}


@pytest.mark.parametrize(("game", "order"), ORDERS.items())
def test_arguments_are_in_the_order_of_gem_llm(game, order):
    assert list(inspect.signature(game).parameters)[: len(order.split())] == order.split()


def test_every_id_is_found_through_the_packs_entry_point():
    for id, spec in SPECS.items():
        assert gem.get_spec(id) == spec


@pytest.mark.parametrize("id", [id for id in SPECS if id.endswith("-random")])
def test_random_variants_draw_their_settings_in_each_episode_and_say_how_many_turns_there_are(id):
    env = gem.make(id)
    drawn = set()
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        # Crosswords and WordSearch always have 20 turns, as in gem-llm; they draw how hard the words are.
        drawn.add((env.max_turns, "Crosswords" in id and env.hardcore, "WordSearch" in id and env.hardcore))
        assert f"{env.max_turns} turns" in observation or f"{env.max_turns} guesses" in observation
    assert len(drawn) >= 2


REFUSED = [
    *((game, {"max_turns": 0}, "max_turns") for game in (*ORDERS, WikiGame)),
    (Crosswords, {"num_words": 11}, "num_words"),
    (Crosswords, {"num_words": 3, "max_turns": 17}, "max_turns"),
    (FifteenPuzzle, {"num_rows": 6}, "num_rows"),
    (FifteenPuzzle, {"scramble": 21}, "scramble"),
    (FifteenPuzzle, {"num_rows": None, "scramble": 5}, "scramble"),
    (Game2048, {"target_tile": 262_144}, "target_tile"),
    (Game2048, {"target_tile": 64, "board_size": 2}, "target_tile"),
    (Game2048, {"target_tile": 96}, "power of two"),
    (Game2048, {"board_size": 9}, "board_size"),
    (Game2048, {"target_tile": None, "board_size": 2}, "board_size"),
    (GuessTheNumber, {"min_number": 5, "max_number": 5}, "min_number"),
    (GuessTheNumber, {"min_number": 1, "max_number": 10**9}, "max_number"),
    (GuessTheNumber, {"min_number": -(10**9)}, "min_number"),
    (Hangman, {"word_length": 9}, "word_length"),
    (Mastermind, {"code_length": 7, "num_numbers": 8}, "code_length"),
    (Mastermind, {"code_length": 5, "num_numbers": 4}, "duplicate_numbers"),
    (Mastermind, {"num_numbers": 11}, "num_numbers"),
    (Minesweeper, {"rows": 1}, "rows"),
    (Minesweeper, {"cols": 31}, "cols"),
    (Minesweeper, {"rows": 2, "cols": 2, "num_mines": 4}, "num_mines"),
    *((Sokoban, {"dim_room": room}, "dim_room") for room in (6, (6,), "66", (4, 6), (6, 11))),
    (Sokoban, {"num_boxes": 5}, "num_boxes"),
    (Sokoban, {"num_boxes": 3, "max_turns": 29}, "max_turns"),
    (Sudoku, {"scale": 5}, "scale"),
    (Sudoku, {"scale": 4, "clues": 16}, "clues"),
    (Sudoku, {"scale": 9, "clues": 23}, "clues"),
    (TowerOfHanoi, {"num_disks": 11}, "num_disks"),
    (WikiGame, {"max_turns": 3}, "max_distance"),
    (WikiGame, {"min_distance": 5}, "min_distance"),
    (WikiGame, {"variant": "regrets"}, "variant"),
    (WikiGame, {"backend": "web"}, "backend"),
    *((WikiGame, {"page_summary_length": length}, "page_summary") for length in ((100,), (0, "words"), (9, "lines"))),
    (WikiGame, {"trawler_kwargs": {"url": "http://127.0.0.1"}}, "trawler_kwargs"),
    (WikiGame, {"backend": "mw", "trawler_kwargs": {"zimfile": "x"}}, "trawler_kwargs"),
    (WikiGame, {"backend": "mw", "trawler_kwargs": {"url": "wiki.org"}}, "wiki.org"),
    (WikiGame, {"backend": "mw", "trawler_kwargs": {"query_delay_ms": -1}}, "query_delay_ms"),
    (WikiGame, {"backend": "kiwix", "trawler_kwargs": {"max_query_attempts": 0}}, "max_query_attempts"),
    (WikiGame, {"backend": "kiwix", "trawler_kwargs": {"timeout": 0}}, "timeout"),
    (WordSearch, {"num_words": 16}, "num_words"),
    (WordSearch, {"max_turns": 4}, "max_turns"),
    (Wordle, {"word_length": 2}, "word_length"),
]


@pytest.mark.parametrize(("game", "kwargs", "named"), REFUSED)
def test_settings_out_of_range_are_refused_by_name(game, kwargs, named):
    with pytest.raises(ConfigError, match=named):
        game(**kwargs)
