"""What this pack offers: a table of specs. Listing loads this module and no game."""

import gem

GEM_API = 1

GUESS_THE_NUMBER = "gem_envs_games.guess_the_number:GuessTheNumber"


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id="game:GuessTheNumber-v0-easy",
            entry_point=GUESS_THE_NUMBER,
            kwargs={"min_number": 1, "max_number": 10, "max_turns": 4},
            description="Find a number from 1 to 10 in 4 guesses, told higher or lower",
            tags=("game", "multi-turn", "search"),
        ),
        gem.EnvSpec(
            id="game:GuessTheNumber-v0-hard",
            entry_point=GUESS_THE_NUMBER,
            kwargs={"min_number": 1, "max_number": 50, "max_turns": 7},
            description="Find a number from 1 to 50 in 7 guesses, told higher or lower",
            tags=("game", "multi-turn", "search"),
        ),
        gem.EnvSpec(
            id="game:GuessTheNumber-v0-random",
            entry_point=GUESS_THE_NUMBER,
            kwargs={"min_number": None, "max_number": None, "max_turns": None},
            description="Find a number in a range and with a limit that each episode draws",
            tags=("game", "multi-turn", "search"),
        ),
    ]
