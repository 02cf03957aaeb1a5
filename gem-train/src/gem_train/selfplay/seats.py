"""The seat of a learner in each game, and the game as it was for the learner."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from msgspec.structs import replace

from gem import seeding
from gem.episode import Episode, Start
from gem.errors import ConfigError
from gem.rollout.named_policies import make_policy
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import Policy
from gem_train.batch import traces_of


@dataclass(frozen=True, slots=True)
class Seats:
    """The seat of a learner: of each player that it may be equally often, and the same in all episodes of a group."""

    seed: int
    """Of the run; the seat follows from it and the seed of the episode."""
    players: Mapping[str, tuple[str, ...]]
    """The players that a learner may be, by the id of the game."""

    def of(self, start: Start) -> str:
        """The player that the learner is."""
        players = self.players[start.id or ""]
        return players[seeding.derive(self.seed, "seat", start.seed) % len(players)]

    def against(self, policy: Policy, opponent: Policy) -> Policy:
        """Both policies as one: the learner's, and the one that plays for the others."""
        return PlayerPolicies(
            {"learner": policy, "opponent": opponent},
            lambda asked: "learner" if asked.start and asked.player == self.of(asked.start) else "opponent",
        )

    def seen(self, episode: Episode) -> Episode:
        """The episode as it was for the learner: its trace alone, and a success if it is among those who `won`.

        Raises:
            ConfigError: the env does not say who won.
        """
        if episode.failure is not None:
            return episode
        seat = self.of(episode.start)
        ends = [trace.turns[-1].info for trace in episode.traces if trace.turns]
        won = [info["won"] for info in ends if "won" in info]
        if episode.terminated and ends and not won:
            raise ConfigError(
                f"{episode.id} does not say who won: the info of its last step needs `won`, a list of players "
                "(see `gem.Env.players`)"
            )
        success = any(seat in each for each in won)
        return replace(episode, traces=tuple(traces_of(episode, (seat,))), success=success)


@dataclass(frozen=True, slots=True)
class Versus:
    """Games of any policy against one `opponent`, which is a policy by its name."""

    seats: Seats
    opponent: str

    def made(self) -> closing[Policy]:
        """The opponent, which is closed at the end."""
        return closing(make_policy(self.opponent))
