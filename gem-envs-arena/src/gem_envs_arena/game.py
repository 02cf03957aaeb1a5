"""The base of games for several players."""

import math
from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from gem.answers.parsing import boxed
from gem.core import Info, Observation, Step
from gem.turn_env import TurnEnv


def box(move: str) -> str:
    """The reply that makes a move."""
    return f"\\boxed{{{move}}}"


def read_move(reply: str, legal: Collection[str]) -> str | None:
    """The last box of a reply that holds one of `legal`, in any case; None if there is none."""

    def read(content: str) -> str | None:
        move = " ".join(content.lower().split())
        return move if move in legal else None

    return boxed(reply, read)


class Game(TurnEnv):
    """A game for several players, each of whom reads what it was told since it acted last, and what is asked of it.

    Subclasses keep in `player` who acts next, and tell players what happens (`_tell`).
    """

    players: tuple[str, ...] = ("first", "second")

    player: str
    """Who acts next."""

    @abstractmethod
    def _set_up(self, options: Mapping[str, Any]) -> None:
        """Draw a new game from `self.rng`."""

    @abstractmethod
    def _rules(self, player: str) -> str:
        """What a player reads first: the rules, and what it alone knows."""

    @abstractmethod
    def _request(self) -> str:
        """The end of an observation: what `player` must know now, and its legal actions."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "player": self.player}

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.player = self.players[0]
        self._set_up(options)
        self._unread = {player: [self._rules(player)] for player in self.players}
        return self._observation()

    def _tell(self, text: str, *players: str) -> None:
        """Let players (by default all) read a line when they are asked next."""
        for player in players or self.players:
            self._unread[player].append(text)

    def _observation(self) -> str:
        """The observation of who acts next."""
        lines, self._unread[self.player] = self._unread[self.player], []
        return "\n".join([*lines, self._request()])

    def _next(self, player: str, rewards: Mapping[str, float] | None = None) -> Step:
        """The step after which `player` acts."""
        self.player = player
        earned = dict(rewards or {})
        return Step.ongoing(self._observation(), math.fsum(earned.values()), player=player, rewards=earned)

    def _end(self, text: str, rewards: Mapping[str, float], won: Collection[str], **info: Any) -> Step:
        """The last step of a game, whose `text` all players may read."""
        return Step.final(
            text,
            math.fsum(rewards.values()),
            success=bool(won),
            rewards=dict(rewards),
            won=[player for player in self.players if player in won],
            **info,
        )


class TwoPlayerGame(Game):
    """A game for two players with a list of legal actions, in which a reply without a legal action loses."""

    @property
    @abstractmethod
    def legal(self) -> list[str]:
        """The actions that `player` may choose from, in lower case."""

    def sample_action(self) -> str:
        return box(self.action_rng.choice(self.legal))

    @property
    def other(self) -> str:
        """The player who does not act now."""
        first, second = self.players
        return second if self.player == first else first

    def _forfeit(self, stake: float = 1.0) -> Step:
        """The step of a reply without a legal action: `player` loses the stake to the other."""
        text = f"The {self.player} player gave no legal action and loses."
        return self._end(text, {self.player: -stake, self.other: stake}, [self.other], malformed=True)
