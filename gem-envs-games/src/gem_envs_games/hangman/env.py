"""Hangman: find a secret word by guessing letters of it, or the word."""

from string import ascii_uppercase

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.hangman.solver import best_guess, secret_words
from gem_envs_games.replies import box, last_box_counts, letters
from gem_envs_games.words import LONGEST, SHORTEST


class Hangman(DrawnSettings, BoardGame):
    r"""Find the word: a letter that is in it is shown in all its places.

    The first observation has the rules, and each one has the word as far as it is known and all guesses. An action is
    `\boxed{E}` for a letter or `\boxed{HOUSE}` for the word; case, spaces and commas do not matter.

    The rules are those of the pencil game, except that, as in gem-llm, every guess takes a turn, right or wrong, and
    only the turns are limited, and only naming the word wins, also where all its letters are shown: else a fixed list
    of letters would win most games.

    Rewards, as in gem-llm: a letter earns 0.5 / word_length for each of its places; naming the word earns 0.5, and
    as much for each hidden place as its letter would have. So a won game sums to 1. A reply without a letter or word
    costs 0.1 and loses. A refused guess (made before, or a word of the wrong length) uses up a turn, as does a wrong
    one, and a wrong word shows none of its letters.

    Args:
        word_length: 3 to 8.
        hardcore: draw the secret from all words of the pack, not from the common ones.
        max_turns: guesses in an episode.

    Where the length or the turns are None, each episode draws 3 letters with 10 turns, 5 with 15, or 7 with 20.
    """

    def __init__(self, word_length: int | None = 5, hardcore: bool = False, max_turns: int | None = 20) -> None:
        super().__init__(max_turns=max_turns)
        self.hardcore = hardcore
        self._fix_or_draw(word_length=word_length)

    def _configure(self, word_length: int) -> None:
        self.word_length = check_int("word_length", word_length, SHORTEST, LONGEST)

    def _draw(self) -> None:
        self.word_length, self.max_turns = self.rng.choice(((3, 10), (5, 15), (7, 20)))

    def _start(self) -> str:
        self.secret, example = self.rng.sample(secret_words(self.word_length, self.hardcore), 2)
        # In the order of the guesses; without repeats.
        self.tried = ""
        self.wrong_words: list[str] = []
        self._found = False
        kind = "an English word" if self.hardcore else "a common English word"
        return self._ask(
            f"You are playing Hangman. My secret is {kind} of {self.word_length} letters, in American spelling.\n"
            "Each turn, guess one letter or the whole word. A letter that is in the word is shown in every place where "
            "it stands. A wrong word shows nothing. You win when you name the word: showing all its letters is not "
            "enough.\n"
            f"Give your guess inside \\boxed{{}}, for example {box('E')} or {box(example)}.\n"
            f"You have {self.max_turns} turns; each guess takes one, right or wrong, also one that I refuse because "
            "you made it before or because it has the wrong length.\n"
            f"{last_box_counts('guess')}\n"
            "Hidden letters are shown as '_'."
        )

    def _step(self, action: str) -> Step:
        guess = boxed(action, letters)
        if guess is None:
            return self._unreadable("give a letter or a word")
        wrong = self._objection(guess)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, your guess was refused: {wrong}.")
        message = f"At turn {self.turn}, you guessed {guess}"
        if len(guess) == 1:
            return self._letter(guess, message)
        if guess == self.secret:
            reward = 0.5 * self._pattern().count("_") / self.word_length + 0.5
            self._found = True
            return self._ended(f"{message}. Congratulations! That is my word.", reward, success=True)
        self.wrong_words.append(guess)
        return self._ongoing(f"{message}, which is not my word.")

    def _letter(self, letter: str, message: str) -> Step:
        self.tried += letter
        places = self.secret.count(letter)
        if not places:
            return self._ongoing(f"{message}, which is not in my word.")
        message = f"{message}, which is in my word {'once' if places == 1 else f'{places} times'}."
        if "_" not in self._pattern():
            message += " All its letters are shown: name it."
        return self._ongoing(message, 0.5 * places / self.word_length)

    def _objection(self, guess: str) -> str | None:
        """The reason why this guess is not answered, or None."""
        if len(guess) not in (1, self.word_length):
            return f"it has {len(guess)} letters, and my word has {self.word_length}"
        if guess in self.wrong_words or (len(guess) == 1 and guess in self.tried):
            return f"you have guessed {guess} before"
        return None

    def _solution(self) -> str:
        return f" My word was {self.secret}."

    def _pattern(self) -> str:
        return self.secret if self._found else "".join(c if c in self.tried else "_" for c in self.secret)

    def _board(self) -> str:
        missing = [letter for letter in self.tried if letter not in self.secret]
        return (
            f"Word: {' '.join(self._pattern())}\n"
            f"Letters that are not in it: {' '.join(missing) or 'none so far'}\n"
            f"Words that it is not: {' '.join(self.wrong_words) or 'none so far'}"
        )

    def sample_action(self) -> str:
        """A random letter that has not been guessed, as likely as not; else a random word that may be a secret."""
        untried = [letter for letter in ascii_uppercase if letter not in self.tried]
        if untried and self.action_rng.random() < 0.5:
            return box(self.action_rng.choice(untried))
        return box(self.action_rng.choice(secret_words(self.word_length, self.hardcore)))

    def expert_action(self) -> str:
        """The letter whose answer is expected to leave the fewest words, or a word where two are left or one turn."""
        tried = "".join(sorted(self.tried))
        last = self.turn + 1 == self.max_turns
        return box(best_guess(self._pattern(), self.hardcore, tried, tuple(self.wrong_words), last))
