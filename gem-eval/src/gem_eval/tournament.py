"""A tournament: policies play a game against each other with seats swapped, kept in a folder and resumed from there."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import combinations, combinations_with_replacement, permutations
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gem.episode import Episode, Start
from gem.errors import ConfigError, Failure
from gem.packs.component_ref import ComponentRef
from gem.packs.make import make
from gem.packs.preflight import check_wrappers
from gem.record import EPISODES_FILE, Recorder, load_recorded, read
from gem.rollout.loop import rollout
from gem.rollout.named_policies import check_policy, make_policy, policy_ref, written_at
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem.vector import make_vec
from gem_eval import folder as folders
from gem_eval.evaluation import num_envs_of, title_of
from gem_eval.meter import BudgetSpent, Meter
from gem_eval.plan import MOST_PLANNED, expand, plan
from gem_eval.results import item_of
from gem_eval.results.standings import Game, Standings, returns_of, standings
from gem_eval.roles import with_concurrency
from gem_eval.settings import TournamentSettings

MOST_PERMUTED = 3
"""Most seats of which every order is played; with more, each entrant only has each seat once."""


class Tournament:
    """Plays what the settings say, except what the folder holds already.

    Args:
        settings: what is played.
        out: the folder that keeps it; None to keep nothing.

    Raises:
        GemError: a name does not exist, settings are refused, or the folder holds something else.
    """

    def __init__(self, settings: TournamentSettings, out: Path | None = None) -> None:
        ids = expand(settings.game.ids)
        if len(ids) != 1:
            raise ConfigError(f"a tournament is of one game, not of {len(ids)}: {', '.join(ids)}")
        check_wrappers(settings.game.layers)
        policies = tuple(map(policy_ref, settings.policies))
        for policy in policies:
            check_policy(policy)
        self.seats = _seats(ids[0], settings)
        """The names of the players of the game, in the order of their seats."""
        self.seatings = seatings(len(policies), len(self.seats))
        """Who sits where, by the number of the policy; the `group` of a game's start is a seating's number."""
        orders = sum(sorted(each) == sorted(self.seatings[0]) for each in self.seatings)
        seeds = math.ceil(settings.games / orders)
        game = settings.game.model_copy(update={"ids": tuple(ids), "episodes": seeds, "k": len(self.seatings)})
        self.settings = settings.model_copy(update={"game": game, "policies": policies})
        self._plan = plan(game, settings.seed)
        self._recorded_as = [folders.identity(each) for each in policies]
        self.names = _distinct([title_of(each) for each in self._recorded_as])
        """The entrants: policies in words; one that plays against itself gets a number."""
        self.out = out
        self.games: dict[Start, Game] = {}
        """The games so far."""
        self.failed: list[tuple[int, Failure]] = []
        """The seed and the failure of each failed game of this call; those in the folder are played again."""
        self.meter: Meter | None = None
        """Counts tokens and time of this call; None before it plays."""
        self.budget_spent = False
        """True if the budget has ended it."""
        self.others = 0
        """Episodes in the folder that belong to other settings, weights or versions."""
        if out is not None:
            folders.claim(out, self.settings)
            self._load(out)
        self.resumed = len(self.games)
        """Number of games that the folder held."""

    @property
    def asked(self) -> int:
        """Number of games that the settings ask for."""
        return len(self._plan.starts)

    @property
    def played(self) -> int:
        """Number of games that are known, failed ones included."""
        return len(self.games)

    def play(self) -> Iterator[Episode]:
        """Play what is missing; yields each game when it has ended.

        When the budget is spent, it ends. An exception ends it, too; what was played is kept.

        Raises:
            GemError: see `gem.rollout.rollout` and `gem.make_vec`.
            OSError: the folder cannot be written.
        """
        missing = [start for start in self._plan.starts if start not in self.games]
        self.budget_spent = False
        try:
            if missing:
                yield from self._play(missing)
        except BudgetSpent:
            self.budget_spent = True
        finally:
            if self.out is not None:
                folders.write_json(self.out / folders.SUMMARY, self.as_json())

    def _play(self, missing: Sequence[Start]) -> Iterator[Episode]:
        num_envs = self.settings.num_envs or max(map(num_envs_of, self.settings.policies))
        num_envs = min(num_envs, len(missing))
        with ExitStack() as opened:
            policies = PlayerPolicies(self._policies(opened, missing, num_envs), self._name_of)
            self.meter = Meter(policies, self.settings.budget)
            recorder = opened.enter_context(Recorder(self.out / EPISODES_FILE)) if self.out else None
            game = self.settings.game
            envs = opened.enter_context(
                make_vec(
                    game.ids,
                    num_envs,
                    wrappers=game.layers,
                    info_methods=self.meter.info_methods,
                    env_kwargs=game.kwargs,
                )
            )
            for episode in rollout(self.meter, envs, missing, max_turns=game.max_turns):
                named = self._named(episode)
                if recorder:
                    recorder.write(named, {"seats": self._names_of(episode.group)})
                self._add(named)
                yield named

    def _policies(self, opened: ExitStack, missing: Sequence[Start], num_envs: int) -> dict[str, Policy]:
        """Name → policy, of those who still play; equal ones are built once."""
        built: list[tuple[ComponentRef, Policy]] = []
        policies: dict[str, Policy] = {}
        for each in sorted({each for start in missing for each in self.seatings[start.group]}):
            given = self.settings.policies[each]
            policy = next((policy for known, policy in built if known == given), None)
            if policy is None:
                policy = opened.enter_context(closing(make_policy(with_concurrency(given, num_envs))))
                built.append((given, policy))
            policies[self.names[each]] = policy
        return policies

    def _name_of(self, transcript: Transcript) -> str:
        """The name of the policy that plays a conversation."""
        assert transcript.start is not None
        return self._names_of(transcript.start.group).get(transcript.player, transcript.player)

    def _names_of(self, group: int) -> dict[str, str]:
        """Seat → name, of a seating."""
        return {seat: self.names[each] for seat, each in zip(self.seats, self.seatings[group], strict=True)}

    def _policies_of(self, group: int) -> dict[str, ComponentRef]:
        """Seat → policy as it is recorded, of a seating."""
        return {seat: self._recorded_as[each] for seat, each in zip(self.seats, self.seatings[group], strict=True)}

    def _named(self, episode: Episode) -> Episode:
        """The episode with the policy of each player."""
        policies = self._policies_of(episode.group)
        return episode.each_trace(lambda trace: replace(trace, policy=policies.get(trace.player)))

    def _add(self, episode: Episode) -> None:
        failed = episode.failure is not None
        if episode.failure is not None:
            self.failed.append((episode.seed, episode.failure))
        returns = None if failed else returns_of(episode, self.seats)
        self.games[episode.start] = Game(item_of(episode), self.seatings[episode.group], returns)

    def _load(self, out: Path) -> None:
        """Count the games of the folder."""
        found: dict[int, list[Episode]] = {}
        for record in read(out / EPISODES_FILE) if (out / EPISODES_FILE).is_file() else ():
            found.setdefault(record.group, []).append(record)
        changed = [written_at(each) for each in self.settings.policies]
        for group, seating in enumerate(self.seatings):
            since = max((time for each in seating if (time := changed[each]) is not None), default=None)
            starts = [start for start in self._plan.starts if start.group == group]
            policies, turns = self._policies_of(group), self.settings.game.max_turns
            specs = self._plan.specs.values()
            known = load_recorded(found.pop(group, []), specs, starts, policies, turns, since)
            self.others += known.others
            for episode in known.episodes.values():
                self._add(episode)
        self.others += sum(map(len, found.values()))

    def standings(self) -> Standings:
        """The ratings of the games so far, and what each has won against each."""
        return standings(self.games.values(), self.names, self.seats)

    def as_json(self) -> dict[str, Any]:
        """The standings, and what was played, for `json.dumps`."""
        return {
            "env": self.settings.game.ids[0],
            "seats": list(self.seats),
            "seed": self.settings.seed,
            "asked": self.asked,
            "games": self.played,
            "failures": sum(game.returns is None for game in self.games.values()),
            "partial": self.played < self.asked,
            "budget_spent": self.budget_spent,
            **self.standings().as_json(),
        }


def seatings(policies: int, seats: int) -> list[tuple[int, ...]]:
    """Who sits where in the games of one seed: of every line-up of different policies, or if they are fewer than the
    seats of all of them, each order; with more than `MOST_PERMUTED` seats only those that rotate it.

    Those without the last policy come first, so that one may be added.
    """
    line_ups = (
        combinations(range(policies), seats)
        if policies >= seats
        else (each for each in combinations_with_replacement(range(policies), seats) if len(set(each)) == policies)
    )
    found: list[tuple[int, ...]] = []
    for each in sorted(line_ups, key=lambda line_up: line_up[::-1]):
        rotated = (each[shift:] + each[:shift] for shift in range(seats))
        found += sorted(set(permutations(each) if seats <= MOST_PERMUTED else rotated))
    return found


def _seats(id: str, settings: TournamentSettings) -> tuple[str, ...]:
    """The players of the game."""
    with make(id, wrappers=settings.game.layers, **settings.game.kwargs) as env:
        players = env.players
    if len(players) < 2:
        raise ConfigError(
            f"{id} is not a game for several: its class names no `players` (see docs/writing-an-environment.md). "
            "`gemx eval` measures policies on environments for one"
        )
    policies = len(settings.policies)
    line_ups = math.comb(max(policies, len(players)), min(policies, len(players)))
    if line_ups * settings.games > MOST_PLANNED:
        raise ConfigError(
            f"{policies} policies are {line_ups:,} line-ups of {len(players)}, whose games would be more than "
            f"{MOST_PLANNED:,}: lower --games, or name fewer policies"
        )
    return players


def _distinct(titles: Sequence[str]) -> list[str]:
    """The titles; one that was there before gets a number."""
    found: list[str] = []
    for title in titles:
        name, number = title, 1
        while name in found:
            number += 1
            name = f"{title} ({number})"
        found.append(name)
    return found
