"""Undercover: clues to a secret word, of which one of three players has another."""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem_envs_arena.game import Game, box, read_move
from gem_envs_arena.speech import quoted
from gem_envs_arena.undercover_words import CLUES, PAIRS

_LONGEST = 60
"""Characters of a clue."""


class Undercover(Game):
    r"""Two of three players have the same secret word, and one, who is undercover, a similar one; nobody knows who.

    In each round every player gives a clue to the own word, which all others read. Then all vote for who is undercover,
    without seeing how the others vote. If only that player has the most votes, the other two win; otherwise the player
    who is undercover wins.

    An action is a clue, `\boxed{you find it in a kitchen}`, of at most 60 printable characters with a letter; at the
    vote it is the name of another player, `\boxed{third}`. The others read the clue, and nothing else of a reply.

    Rewards at the end: 1 for who wins, 0 for who does not. A reply without a clue or a vote ends the game, and so does
    a clue that contains the own word: nobody wins, and it costs its player 1.

    The rules are those of the party game Undercover, also called Who is the spy, for one vote.

    Args:
        rounds: rounds of clues before the vote, from 1 to 10.
    """

    players = ("first", "second", "third")

    def __init__(self, rounds: int = 2) -> None:
        super().__init__()
        self.rounds = check_int("rounds", rounds, 1, 10)

    def _set_up(self, options: Mapping[str, Any]) -> None:
        common, other = self.rng.sample(self.rng.choice(PAIRS), 2)
        self.undercover = self.rng.choice(self.players)
        self.words = {player: other if player == self.undercover else common for player in self.players}
        self.votes: dict[str, str] = {}

    def _rules(self, player: str) -> str:
        return (
            "You are playing Undercover with two other players. Each of you has a secret word. Two have the same, and "
            "one, who is undercover, a similar one; nobody is told who. In each round every player gives a clue, which "
            "the others read. Then all vote at once for who is undercover. If only that player has the most votes, the "
            "other two win; otherwise the player who is undercover wins.\n"
            f"Answer with your clue inside \\boxed{{}}: at most {_LONGEST} characters, without your word in it. The "
            "others read only the clue. A reply without a clue loses.\n"
            f"You are the {player} player. There are {self.rounds} rounds."
        )

    def _request(self) -> str:
        word = f"Your word: {self.words[self.player]}."
        if self.voting:
            return f"{word} Who is undercover? Your vote: {' or '.join(map(box, self.candidates))}."
        return f"{word} Round {self.turn // 3 + 1}: your clue inside \\boxed{{}}."

    @property
    def voting(self) -> bool:
        """Whether the next action is a vote."""
        return self.turn >= 3 * self.rounds

    @property
    def candidates(self) -> list[str]:
        """The players whom `player` may vote for."""
        return [player for player in self.players if player != self.player]

    def _step(self, action: str) -> Step:
        if self.turn > 3 * self.rounds:
            return self._vote(read_move(action, self.candidates))
        clue = boxed(action, self._read_clue)
        if clue is None:
            return self._void("clue")
        self._tell(f"The {self.player} player's clue: {quoted(clue)}")
        return self._next(self._after())

    def _read_clue(self, content: str) -> str | None:
        """The clue in a box; None if it is too long, has no letters or contains the own word."""
        clue = " ".join(content.split())
        legal = len(clue) <= _LONGEST and clue.isprintable() and self.words[self.player] not in _letters(clue)
        return clue if legal and _letters(clue) else None

    def _after(self) -> str:
        return self.players[self.turn % len(self.players)]

    def _void(self, wanted: str) -> Step:
        text = f"The {self.player} player gave no {wanted}, which ends the game: nobody wins."
        return self._end(text, {self.player: -1.0}, [], malformed=True)

    def _vote(self, suspect: str | None) -> Step:
        if suspect is None:
            return self._void("vote")
        self.votes[self.player] = suspect
        if len(self.votes) < len(self.players):
            return self._next(self._after())
        votes = Counter(self.votes.values())
        most = [player for player in self.players if votes[player] == max(votes.values())]
        found = most == [self.undercover]
        won = [player for player in self.players if (player == self.undercover) != found]
        told = ", ".join(f"the {player} player for the {voted}" for player, voted in self.votes.items())
        text = (
            f"Votes: {told}. The {self.undercover} player was undercover and "
            f"{'is found' if found else 'wins'}. Its word was {self.words[self.undercover]}."
        )
        return self._end(text, {player: float(player in won) for player in self.players}, won)

    def sample_action(self) -> str:
        return box(self.action_rng.choice(self.candidates if self.voting else CLUES))


def _letters(text: str) -> str:
    """The letters of a text in small letters, without accents and in one script's form, to find a word in."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if letter.isalpha())
