"""Standings of a tournament: ratings of its players, and what each has won against each."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from gem.episode import Episode
from gem.episode.episode import total
from gem_eval.results.ratings import Duel, ratings
from gem_eval.results.result import Interval


class Game(NamedTuple):
    """A game: who sat where, by numbers of entrants in the order of the seats, and their returns."""

    item: str
    """Its start. Games of equal items and entrants are alike, and differ in the seating."""
    seating: tuple[int, ...]
    returns: tuple[float, ...] | None
    """None if it failed."""


class Standing(Struct, frozen=True, kw_only=True):
    """What one entrant has reached. Whoever has the higher return of two in a game has won; equal ones are a draw."""

    name: str
    rating: float
    """On Elo's scale; the mean of all is 0. See `gem_eval.results.ratings`."""
    rating_ci: Interval
    games: int
    """Games played without a failure."""
    won: int
    """Comparisons with another entrant in a game: one per game of two, more per game of more."""
    drawn: int
    lost: int
    returns: Mapping[str, float | None]
    """Seat → mean return there; None without a game."""
    failures: int
    """Games in which the env or a policy failed: counted here, and nowhere else."""


class Pairing(Struct, frozen=True, kw_only=True):
    """What two entrants have reached against each other, from the first one's side."""

    first: str
    second: str
    won: int
    drawn: int
    lost: int


class Standings(Struct, frozen=True):
    """The standings of all, the highest rating first, and of each two."""

    players: tuple[Standing, ...]
    pairs: tuple[Pairing, ...]

    def as_json(self) -> dict[str, Any]:
        """The standings for `json.dumps`."""
        return msgspec.to_builtins(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Standings":
        """The standings from what `as_json` returned.

        Raises:
            ValueError: they are none.
        """
        return msgspec.convert({name: values.get(name) for name in ("players", "pairs")}, cls)


def returns_of(episode: Episode, seats: Sequence[str]) -> tuple[float, ...]:
    """The return of each seat. What a player earned who was never asked is that of the last step."""
    played = {trace.player: trace.total_reward for trace in episode.traces}
    last = list(episode.played())[-1:]
    earned: Any = last[0][1].info.get("rewards", {}) if last else {}
    return tuple(played[seat] if seat in played else _sum(earned.get(seat, 0.0)) for seat in seats)


def _sum(earned: Any) -> float:
    return total(earned.values()) if isinstance(earned, Mapping) else float(earned)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]


def standings(games: Iterable[Game], names: Sequence[str], seats: Sequence[str]) -> Standings:
    """The standings after games, in any order.

    Args:
        games: the games. Those of one item and the same entrants are one unit of the intervals: with equal seeds,
            luck is the same in all of them.
        names: of the entrants.
        seats: names of the seats, in order.
    """
    units: dict[tuple[str, tuple[int, ...]], list[Duel]] = {}
    points = {pair: [0, 0, 0] for pair in combinations(range(len(names)), 2)}
    returns: list[dict[str, list[float]]] = [{seat: [] for seat in seats} for _ in names]
    sound, failures = [0] * len(names), [0] * len(names)
    for game in games:
        entrants = set(game.seating)
        if game.returns is None:
            for each in entrants:
                failures[each] += 1
            continue
        for each in entrants:
            sound[each] += 1
        for seat, each, earned in zip(seats, game.seating, game.returns, strict=True):
            returns[each][seat].append(earned)
        unit = units.setdefault((game.item, tuple(sorted(game.seating))), [])
        for duel in duels(game.seating, game.returns):
            unit.append(duel)
            points[duel.first, duel.second][int(2 - 2 * duel.points)] += 1
    rated = ratings(units.values(), len(names))
    reached = [
        Standing(
            name=name,
            rating=rated[each].value,
            rating_ci=(rated[each].low, rated[each].high),
            games=sound[each],
            won=_of(points, each, 0),
            drawn=_of(points, each, 1),
            lost=_of(points, each, 2),
            returns={seat: math.fsum(of) / len(of) if of else None for seat, of in returns[each].items()},
            failures=failures[each],
        )
        for each, name in enumerate(names)
    ]
    pairs = [
        Pairing(first=names[first], second=names[second], won=won, drawn=drawn, lost=lost)
        for (first, second), (won, drawn, lost) in points.items()
    ]
    return Standings(tuple(sorted(reached, key=lambda each: -each.rating)), tuple(pairs))


def duels(seating: Sequence[int], returns: Sequence[float]) -> list[Duel]:
    """The comparison of each two seats of a game that different entrants had, the lower number first."""
    found: list[Duel] = []
    for (one, earned), (other, others) in combinations(sorted(zip(seating, returns, strict=True)), 2):
        if one != other:
            found.append(Duel(one, other, 0.5 if earned == others else float(earned > others)))
    return found


def _of(points: Mapping[tuple[int, int], Sequence[int]], player: int, result: int) -> int:
    """How often a player has won (0), drawn (1) or lost (2)."""
    own = sum(counts[result] for (first, _), counts in points.items() if first == player)
    return own + sum(counts[2 - result] for (_, second), counts in points.items() if second == player)
