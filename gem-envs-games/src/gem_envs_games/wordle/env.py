"""Wordle: find a secret word from marks on the letters of each guess."""

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import box, last_box_counts, letters
from gem_envs_games.wordle.solver import Marked, best_guess, marks
from gem_envs_games.words import LONGEST, SHORTEST, common_words, is_word, known_words


class Wordle(DrawnSettings, BoardGame):
    r"""Find the word; each letter of a guess is marked green (G), yellow (Y) or wrong (X).

    The first observation has the rules, and each one has all guesses with their marks. An action is `\boxed{CRANE}`;
    case does not matter, nor do spaces and commas between the letters.

    The rules are those of the New York Times' Wordle (nytimes.com/games/wordle): green for a letter in its place,
    yellow for one that is in the word in another place; a letter that a guess has more often than the secret is marked
    only as often as the secret has it, green ones first, then from the left. The secret is one of the common words of
    the pack's list. With `only_real_words`, a guess has to be in the whole list.

    Rewards, as in gem-llm: 0.5 / word_length for each place that turns green for the first time, and 0.5 more for the
    word, so a won game sums to 1. A reply without a word costs 0.1 and loses. A refused guess (of the wrong length,
    not a word, or made before) uses up a turn and gets no marks.

    Args:
        word_length: 3 to 8.
        only_real_words: refuse guesses that are not in the list of words.
        max_turns: guesses in an episode.

    Where the length or the turns are None, each episode draws a length of 3 to 5, and allows 5 turns a letter.
    """

    def __init__(self, word_length: int | None = 5, only_real_words: bool = True, max_turns: int | None = 20) -> None:
        super().__init__(max_turns=max_turns)
        self.only_real_words = only_real_words
        self._fix_or_draw(word_length=word_length)

    def _draw(self) -> None:
        self.word_length = self.rng.randint(3, 5)
        self.max_turns = 5 * self.word_length

    def _configure(self, word_length: int) -> None:
        self.word_length = check_int("word_length", word_length, SHORTEST, LONGEST)

    def _start(self) -> str:
        self.secret, example = self.rng.sample(common_words(self.word_length), 2)
        self.marked: list[Marked] = []
        self._guessed: set[str] = set()
        self._rows = ""
        self.green: set[int] = set()
        if self.only_real_words:
            words = (
                f"A guess has to be one of the {len(known_words(self.word_length))} words of this length that I know: "
                "common ones in American spelling, plurals and other forms included. I refuse others."
            )
        else:
            words = "A guess need not be a word."
        return self._ask(
            f"You are playing Wordle. Find my secret English word of {self.word_length} letters.\n"
            "I answer a guess with a mark below each of its letters:\n"
            "- G (green): the letter is in the word, in this place.\n"
            "- Y (yellow): the letter is in the word, in another place.\n"
            "- X: the letter is not in the word, or not as often as you guessed it: each letter of the word gives one "
            "mark, first to green ones, then to yellow ones from the left.\n"
            f"{words}\n"
            f"Give your guess inside \\boxed{{}}, for example {box(example)}.\n"
            f"You have {self.max_turns} turns; each guess takes one, also a refused one.\n" + last_box_counts("guess")
        )

    def _step(self, action: str) -> Step:
        guess = boxed(action, letters)
        if guess is None:
            return self._unreadable("give a word")
        wrong = self._objection(guess)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, your guess was refused: {wrong}.")
        answer = marks(self.secret, guess)
        self.marked.append((guess, answer))
        self._guessed.add(guess)
        self._rows += f"\n{' '.join(guess)}\n{' '.join(answer)}"
        reward = 0.0
        if "G" in answer:
            green = {place for place, mark in enumerate(answer) if mark == "G"}
            reward = 0.5 * len(green - self.green) / self.word_length
            self.green |= green
        message = f"At turn {self.turn}, you guessed {guess} and got {answer}."
        if guess == self.secret:
            return self._ended(f"{message} Congratulations! That is my word.", reward + 0.5, success=True)
        return self._ongoing(message, reward)

    def _objection(self, guess: str) -> str | None:
        """The reason why this guess gets no marks, or None."""
        if len(guess) != self.word_length:
            return f"it has {len(guess)} letters, and my word has {self.word_length}"
        if self.only_real_words and not is_word(guess):
            return f"{guess} is not a word that I know"
        if guess in self._guessed:
            return f"you have guessed {guess} before"
        return None

    def _solution(self) -> str:
        return f" My word was {self.secret}."

    def _board(self) -> str:
        return f"Guesses so far:{self._rows or ' none'}"

    def sample_action(self) -> str:
        """A random common word of the right length, guessed before or not."""
        return box(self.action_rng.choice(common_words(self.word_length)))

    def expert_action(self) -> str:
        """A common word that all marks so far allow, and whose own marks are expected to leave few others."""
        return box(best_guess(self.word_length, tuple(self.marked)))
