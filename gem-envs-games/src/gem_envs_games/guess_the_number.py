"""Guess the Number: find a secret number from the answers "higher" and "lower"."""

import math
import re

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import box

_MOST_DIGITS = 9
_LARGEST = 10**_MOST_DIGITS - 1
_GUESS = re.compile(rf"\s*(-?)0*(?:([0-9]{{1,{_MOST_DIGITS}}})|[0-9]+)\s*")


class GuessTheNumber(DrawnSettings):
    r"""Find the number; each guess is answered with "higher" or "lower".

    The first observation has the rules; each later one has the answer to the last guess. An action is `\boxed{7}`.

    Rewards, as in gem-llm: 1 for the number; 0 for any other guess, except that the last guess, if it is in the
    range, earns ``1 - |guess - number| / (max_number - min_number)``. A reply without a number costs 0.1 and loses.
    A guess out of the range or made before uses up a turn and gets no answer.

    Args:
        min_number: the smallest number it can be; at most nine digits.
        max_number: the largest; at most nine digits.
        max_turns: guesses in an episode.
        near_misses: whether the last guess earns a reward for being near. That discourages guesses at the edges of the
            range, which a model may give up before it has learned to read the answers.

    Where any of the first three is None, each episode draws all three: a smallest number from 1 to 10, a range of 6 to
    51 numbers, and ``ceil(sqrt(max_number - min_number)) + 1`` turns.
    """

    def __init__(
        self,
        min_number: int | None = 1,
        max_number: int | None = 20,
        max_turns: int | None = 20,
        near_misses: bool = True,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._near_misses = near_misses
        self._fix_or_draw(min_number=min_number, max_number=max_number)

    def _configure(self, min_number: int, max_number: int) -> None:
        self.min_number = check_int("min_number", min_number, -_LARGEST, _LARGEST)
        self.max_number = check_int("max_number", max_number, -_LARGEST, _LARGEST)
        if min_number >= max_number:
            raise ConfigError(f"min_number ({min_number}) must be below max_number ({max_number})")
        self._write_rules()

    def _draw(self) -> None:
        self.min_number = self.rng.randint(1, 10)
        self.max_number = self.min_number + self.rng.randint(5, 50)
        self.max_turns = math.ceil(math.sqrt(self.max_number - self.min_number)) + 1
        self._write_rules()

    def _write_rules(self) -> None:
        self._rules = (
            "You are playing Guess the Number.\n"
            f"I have picked a number between {self.min_number} and {self.max_number} (inclusive). "
            f"Find it within {self.max_turns} guesses.\n"
            "After each guess I tell you whether my number is higher or lower.\n"
            "You may say what you like; only the last number inside \\boxed{} counts as your guess, "
            f"for example \\boxed{{{self.min_number}}}. A reply without one loses the game.\n"
            "Enter your first guess."
        )

    def _start(self) -> str:
        self.number = self.rng.randint(self.min_number, self.max_number)
        self.guesses: set[int] = set()
        return self._rules

    def _step(self, action: str) -> Step:
        guess = boxed(action, _number)
        if guess is None:
            return self.malformed(f"At turn {self.turn}, you did not give a number inside \\boxed{{}}. You lose.")
        if guess == self.number:
            return Step.final(f"Congratulations! You found the number {guess} in {self.turn} turns.", 1.0, success=True)
        if not self.min_number <= guess <= self.max_number:
            named = guess if abs(guess) <= _LARGEST else f"a number of more than {_MOST_DIGITS} digits"
            comment = f"{named}, which is not between {self.min_number} and {self.max_number}."
        elif guess in self.guesses:
            comment = f"{guess}, which you have guessed before."
        else:
            self.guesses.add(guess)
            comment = f"{guess}, and my number is {'lower' if guess > self.number else 'higher'} than {guess}."
        message = f"At turn {self.turn}, you guessed {comment}"
        if not self.last_turn:
            return Step.ongoing(message)
        return Step.cut_off(f"{message} That was your last guess: my number was {self.number}.", self._closeness(guess))

    def _closeness(self, guess: int) -> float:
        if not (self._near_misses and self.min_number <= guess <= self.max_number):
            return 0.0
        return 1.0 - abs(guess - self.number) / (self.max_number - self.min_number)

    def sample_action(self) -> str:
        return box(str(self.action_rng.randint(self.min_number, self.max_number)))

    def expert_action(self) -> str:
        """Bisection: wins within ``floor(log2(range)) + 1`` guesses."""
        low = max((guess + 1 for guess in self.guesses if guess < self.number), default=self.min_number)
        high = min((guess - 1 for guess in self.guesses if guess > self.number), default=self.max_number)
        return box(str((low + high) // 2))


def _number(text: str) -> int | None:
    """The number that `text` is, or None. One with too many digits is out of any range; `int()` might refuse it."""
    if len(text) <= _MOST_DIGITS and text.isdecimal() and text.isascii():  # nearly always, and by far the fastest
        return int(text)
    match = _GUESS.fullmatch(text)
    if match is None:
        return None
    sign, digits = match.groups()
    return _LARGEST + 1 if digits is None else int(sign + digits)
