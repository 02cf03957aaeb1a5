"""Mastermind: find a secret code from black and white pegs."""

import re
from functools import lru_cache
from random import Random

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.mastermind.solver import Code, Marked, all_codes, best_guess, pegs
from gem_envs_games.replies import box, last_box_counts

_GUESS = re.compile(r"[0-9\s,-]+")
_LONGEST = 100


class Mastermind(DrawnSettings, BoardGame):
    r"""Find the code; each guess is answered with a black peg for every number that is right and in its place, and a
    white peg for every further one that is in the code, but in another place.

    The first observation has the rules, and each one has all guesses with their pegs. An action is `\boxed{1 2 3 4}`.

    The rules are those of the board game, with numbers for colours, as in D. E. Knuth, "The Computer as Master Mind",
    Journal of Recreational Mathematics 9 (1976), except that codes with a repeated number are left out unless
    `duplicate_numbers` is set; a guess with one is then no possible code, and is refused.

    Rewards, as in gem-llm: a guess earns 1 / code_length for each black peg that it has more than every guess before,
    so a won game sums to 1. A reply without numbers costs 0.1 and loses. A refused guess (of the wrong length, with a
    number out of range or a repeat that is not allowed, or made before) uses up a turn and gets no pegs.

    Args:
        code_length: 1 to 6.
        num_numbers: 2 to 10; a code is made of the numbers from 1 to this one.
        duplicate_numbers: whether a number may be in the code more than once; otherwise `code_length` is at most
            `num_numbers`.
        max_turns: guesses in an episode.

    Where any of the three numbers is None, each episode draws 2 of 4 numbers with 10 turns, 4 of 6 with 20, or 4 of 8
    with 30.
    """

    def __init__(
        self,
        code_length: int | None = 4,
        num_numbers: int | None = 6,
        duplicate_numbers: bool = False,
        max_turns: int | None = 20,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self.duplicate_numbers = duplicate_numbers
        self._fix_or_draw(code_length=code_length, num_numbers=num_numbers)

    def _configure(self, code_length: int, num_numbers: int) -> None:
        self.code_length = check_int("code_length", code_length, 1, 6)
        self.num_numbers = check_int("num_numbers", num_numbers, 2, 10)
        if not self.duplicate_numbers and code_length > num_numbers:
            raise ConfigError(
                f"code_length ({code_length}) is at most num_numbers ({num_numbers}), unless duplicate_numbers=True"
            )
        self._write_rules()

    def _draw(self) -> None:
        self.code_length, self.num_numbers, self.max_turns = self.rng.choice(((2, 4, 10), (4, 6, 20), (4, 8, 30)))
        self._write_rules()

    def _start(self) -> str:
        self.code = example = self._any_code(self.rng)
        while example == self.code:
            example = self._any_code(self.rng)
        self.marked: list[Marked] = []
        self._guessed: set[Code] = set()
        self._most_black = 0
        self._rows = ""
        return f"{self._rules_before} {box(_plain(example))}.\n{self._rules_after}"

    def _write_rules(self) -> None:
        """The rules, in two parts, which have an example between them."""
        numbers = "1 number" if self.code_length == 1 else f"{self.code_length} numbers"
        if self.duplicate_numbers:
            repeats = "A number may be in the code more than once."
        else:
            repeats = "No number is in the code more than once, and a guess that repeats one is refused."
        self._rules_before = (
            f"You are playing Mastermind. Find my secret code of {numbers} from 1 to {self.num_numbers}, in order.\n"
            f"{repeats}\n"
            "I answer a guess with a black peg for each of its numbers that is right and in the right place, and with "
            "a white peg for each further one that is in the code, but in another place. A number of the code gives "
            "one peg at most.\n"
            "Separate the numbers of your guess by spaces, for example"
        )
        self._rules_after = (
            f"You have {self.max_turns} turns; each guess takes one, also a refused one.\n"
            f"{last_box_counts('guess')}\nGuesses so far: none\nEnter your move."
        )
        self._numbers = frozenset(range(1, self.num_numbers + 1))

    def _any_code(self, rng: Random) -> Code:
        codes = all_codes(self.code_length, self.num_numbers, self.duplicate_numbers)
        if codes is not None:
            return codes[int(rng.random() * len(codes))]
        numbers = range(1, self.num_numbers + 1)
        return tuple((rng.choices if self.duplicate_numbers else rng.sample)(numbers, k=self.code_length))

    def _step(self, action: str) -> Step:
        read = boxed(action, _read)
        if read is None:
            return self._unreadable("give numbers")
        guess, text = read
        wrong = self._objection(guess, text)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, your guess was refused: {wrong}.")
        black, white = pegs(self.code, guess)
        self.marked.append(Marked(guess, black, white))
        self._guessed.add(guess)
        row = f"{text}: {black} black, {white} white"
        self._rows += f"\n{row}"
        reward = 0.0
        if black > self._most_black:
            reward = (black - self._most_black) / self.code_length
            self._most_black = black
        message = f"At turn {self.turn}, you guessed {row}."
        if black == self.code_length:
            return self._ended(f"{message} Congratulations! That is my code.", reward, success=True)
        return self._ongoing(message, reward)

    def _objection(self, guess: Code, text: str) -> str | None:
        """The reason why this guess gets no pegs, or None."""
        if len(guess) != self.code_length:
            return f"it has length {len(guess)}, and my code has length {self.code_length}"
        numbers = set(guess)
        if not numbers <= self._numbers:
            return f"{text} has a number that is not from 1 to {self.num_numbers}"
        if not self.duplicate_numbers and len(numbers) < len(guess):
            return f"{text} has the same number twice, and my code does not"
        if guess in self._guessed:
            return f"you have guessed {text} before"
        return None

    def _solution(self) -> str:
        return f" My code was {_plain(self.code)}."

    def _board(self) -> str:
        return f"Guesses so far:{self._rows or ' none'}"

    def sample_action(self) -> str:
        """A random code that the rules allow, guessed before or not."""
        return box(_plain(self._any_code(self.action_rng)))

    def expert_action(self) -> str:
        """A code that all pegs so far allow, and whose own pegs are expected to leave few others."""
        return box(_plain(best_guess(self.code_length, self.num_numbers, self.duplicate_numbers, tuple(self.marked))))


def _read(content: str) -> tuple[Code, str] | None:
    """The guess in a box, and how it is repeated in the answer."""
    return _read_short(content) if len(content) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _read_short(content: str) -> tuple[Code, str] | None:
    words = content.replace(",", " ").split() if _GUESS.fullmatch(content) else []
    try:
        return (tuple(map(int, words)), " ".join(words)) if words else None
    except ValueError:  # "1-2"
        return None


def _plain(code: Code) -> str:
    return " ".join(map(str, code))
